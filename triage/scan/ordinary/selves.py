"""Which ranks the writers of logs give as their own: by a tag, or by a statement that each of them makes of itself.

``rank 3 starts`` at the beginning of a line is the writer's own rank. ``joined as rank=3``, ``shard 3 of 8`` may be
anybody's; where several writers say it in the same words, each with a number of its own, they speak of themselves.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from triage.model import Block, Source
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.rosters import rosters
from triage.scan.ordinary.said import (
    SELF,
    WINDOW,
    Said,
    any_line,
    lines_at_the_end,
    lines_at_the_start,
    share,
)
from triage.scan.prefixes.launchers import OF_A_PART
from triage.sources.labels import stem

Writer = tuple[int, str]
"""A source, and the outermost name of a writer in it; empty for whatever is in the source."""
LOOK = 40
"""Lines at either end of a source in which it may say whose it is."""
LOOK_AMONG = 240
"""The same where several writers share it, if there are few sources."""
FEW = 8
LINES_IN_ALL = 3000
FEWEST = 6
"""Lines of each of many sources in which it may say so."""
FEW_KNOWN = 6
"""Sources whose rank is known that are asked how many there are."""
_RANK = (
    r"(?i)(?P<before>\b[a-z]+[ _-])?(?<![a-z])(?:global[ _-]?|world[ _-]?|mpi[ _-]?|my[ _-]?)?rank(?:[ _]?(?:is|id|no\.?|number))?"
    r"\W{0,3}(?P<rank>\d{1,5})(?![\w.]*\d)(?! ?(?:(?:->|=>)(?! ?pid)|to |and ))"
)
_AMONG = r"(?i)(?<![\w./-])(?P<rank>\d{1,5})(?: ?/ ?| of | out of |, nranks |, world[ _]size )(?P<size>\d{1,5})(?![\w./-])"
_TAG = deferred(rb"(?m)(?:^|[ :|m])\[rank(\d{1,6})\]:")
_PID = r"(?i)(?:\bpid\b\W{0,3}|\A\W{0,2}[a-z]{1,8}[_-]?\d{1,5}@)(\d{2,8})\b"
"""Called so, or behind the number of a process: ``P3@18297``."""
_COUNTED = (
    r"(?i)(?<!local )\b(?:worker|process|proc|trainer|task|replica|member|shard|id|pe|runner|actor|agent|slot|engine|learner|sampler|walker"
    r"|collector|explorer|generator|simulator|partition|peer)"
    r"(?:[ _](?:index|id|number|no\.?))?[ =:#_-]{0,3}(?P<rank>\d{1,5})(?![\w./-])"
)
_ITSELF = (
    r"(?i)\A\W{0,3}(?:worker|process|proc|trainer|replica|member|actor|agent|runner|engine|learner|sampler|walker|collector|explorer"
    r"|generator|simulator|peer|client|env)[ _#-]?(?P<rank>\d{1,4})(?![\w./-])"
)
"""The number that somebody begins his line with; of processes with pids, Ray keeps a line of some only."""
_CALLED = (
    r"(?i)(?<![\w./-])(?!(?:step|epoch|iter\w*|round|batch|node|host|machine|local|attempt|run|version|port|pid|line)\b)[a-z]{2,16}[ _#-]"
    r"(?P<rank>\d{1,4})(?![\w./:%-]|, ?\d)"
)
"""A number behind any word: several writers that each have one of their own count themselves by it."""
_COUNTS = r"[^\W\d_].*\d|\d.*[^\W\d_]"
"""A line that says something, and a number."""
FEWEST_DOUBLED = 3
"""Lines that a writer says again at once, by which it is no chance."""
FEWEST_CALLED = 3
"""Writers that must."""


@dataclass(slots=True, eq=False, repr=False)
class Selves:
    """What the writers of a job's logs say of themselves."""

    ranks: Mapping[Writer, set[int]] = field(default_factory=dict)
    """The ranks that each gives as its own; ``pid 71`` names a process."""
    size: int | None = None
    """How many they say that they are."""
    writers: frozenset[Writer] = frozenset()
    """The names in front of lines, of whatever kind."""
    labels: frozenset[tuple[tuple[str, int], ...]] = frozenset()
    """The places in a grid of parallel processes that lines are marked with."""
    doubled: frozenset[Writer] = frozenset()
    """Writers of which lines with numbers in them stand several times, one below the other: each is several processes."""


def selves(tails: Mapping[int, Block], sources: Sequence[Source]) -> Selves:
    """What writers say of themselves; of sources whose own rank is known, a few tell how many there are."""
    blocks = {index: block for index, block in tails.items() if sources[index].rank is None}
    known = {index: rank for index in sorted(tails) if (rank := sources[index].rank) is not None}
    known = dict(islice(known.items(), FEW_KNOWN))
    found: dict[Writer, set[int]] = defaultdict(set)
    stated: dict[tuple[str, str, tuple[object, ...]], dict[Writer, set[int]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for index, line in _lines({index: tails[index] for index in known}, sources):
        for slot, rank in _numbers(line):
            stated["file", line.wording, slot][index, ""].add(rank)
    writers: set[Writer] = set()
    labels: set[tuple[tuple[str, int], ...]] = set()
    above: dict[Writer, str] = {}
    again: Counter[Writer] = Counter()
    pids: dict[tuple[int, str], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    lines = list(_lines(blocks, sources))
    outer = _before_all(lines)
    stems = _stems(blocks, sources)
    for index, line in lines:
        writers.add((index, line.prefix.stream.partition("/")[0]))
        labels.add(line.prefix.labels)
        writer = index, line.prefix.stream.partition("/")[0]
        again[writer] += (
            line.message == above.get(writer) and compiled(_COUNTS).search(line.message) is not None
        )
        above[writer] = line.message
        names = {
            "file": "",
            "stream": line.prefix.stream.removeprefix(outer.get(index, "")).partition("/")[0],
        }
        if not names["stream"]:
            del names["stream"]
        pid = compiled(_PID).search(line.message)
        if pid is not None or line.prefix.pid is not None:
            names["process"] = f"pid {line.prefix.pid if pid is None else pid[1]}"
        rank = line.prefix.rank
        if rank is not None and pid is not None:
            pids[index, line.wording][rank].add(f"pid {pid[1]}")
        if rank is not None:
            parts = line.prefix.stream.split("/")
            # a launcher's number is not what the process says of itself, nor are coordinates
            if f"rank{rank}" in parts or not (line.prefix.labels or f"task {rank}" in parts):
                for kind, name in names.items():
                    if kind != "process" or f"rank{rank}" not in parts:
                        found[index, name].add(rank)
            if f"task {rank}" not in parts or index not in outer:
                continue
        itself = compiled(SELF).match(line.message)
        if itself is not None:
            for name in names.values():
                found[index, name].add(int(itself[1] or itself[2]))
        numbers = _numbers(line)
        wording = _without_own(line, names.get("stream", ""), stems[index]) if numbers else ""
        for slot, rank in numbers:
            for kind, name in names.items():
                if kind in _WHERE.get(slot[0], names):
                    stated[kind, wording, slot][index, name].add(rank)
    for (index, _), by_rank in pids.items():
        # several ranks that say it in the same words, each with a pid of its own, speak of themselves
        own = {rank: next(iter(names)) for rank, names in by_rank.items() if len(names) == 1}
        if len(own) == len(by_rank) > 1 and len(set(own.values())) == len(own):
            for rank, name in own.items():
                found[index, name].add(rank)
    listed = _listed(blocks, sources, writers)
    for place, rank in listed.items():
        found[place].add(rank)
    named = {writer: set(ranks) for writer, ranks in found.items() if ranks}
    for index, block in {**blocks, **{index: tails[index] for index in known}}.items():
        tags = {int(tag) for tag in _TAG.findall(block.data[-WINDOW:])}
        named[index, ""] = {known[index]} if index in known else tags | named.get((index, ""), set())
    for place, ranks in _of_whole(stated).items():
        found[place] |= ranks
    sizes: set[int] = set()
    for (_, _, slot), told in stated.items():
        how, *among = slot
        own_numbers = _of_themselves(told, contiguous=how not in {"rank", "itself"}) and (
            how != "called" or len(told) >= FEWEST_CALLED
        )
        # a name under which several ranks write, as that of a replica, is none of theirs
        if own_numbers or (how == "rank" and _of_several(told)):
            for writer, ranks in told.items():
                found[writer] |= ranks
        if how == "among" and (own_numbers or _as_named(told, named)):
            sizes.update(number for number in among[1:] if isinstance(number, int))
    size = sizes.pop() if len(sizes) == 1 else None
    return Selves(
        {writer: ranks for writer, ranks in found.items() if ranks and writer[0] not in known},
        size,
        frozenset(writers),
        frozenset(labels),
        frozenset(writer for writer, times in again.items() if times >= FEWEST_DOUBLED),
    )


def _listed(
    blocks: Mapping[int, Block], sources: Sequence[Source], writers: Iterable[Writer]
) -> dict[Writer, int]:
    """The ranks that lists in a log give to those who write there, and to processes."""
    found: dict[Writer, int] = {}
    places: dict[int, dict[str, str]] = defaultdict(dict)
    for index, writer in writers:
        name = compiled(_KINDS).sub("", writer)
        if name != writer:
            places[index].update({name: writer, name.replace(":", "/"): writer})
    files = _names_of_files(blocks, sources)
    most = share(LINES_IN_ALL, len(blocks), FEWEST, LOOK_AMONG)
    for index, block in blocks.items():
        first = () if block.offset else islice(any_line(block, sources[index], index), most)
        for name, rank in rosters(first, [*places[index], *files]).items():
            writer = places[index].get(name, name)
            if name in files:
                found[files[name], ""] = rank
            if compiled(_KINDS).match(writer) is not None:
                found[index, writer] = rank
    return found


def _stems(blocks: Iterable[int], sources: Sequence[Source]) -> dict[int, str]:
    """The names of logs without folders and endings."""
    return {i: stem(sources[i].path or sources[i].name) for i in blocks}


def _names_of_files(blocks: Mapping[int, Block], sources: Sequence[Source]) -> dict[str, int]:
    """What tells the names of files apart, as lists may write it: ``mesh-1f3c.log`` is that of ``1f3c``."""
    stems = _stems(blocks, sources)
    if len(set(stems.values())) < 2:
        return {}
    lowest, highest = min(stems.values()), max(stems.values())
    alike = next((at for at, (a, b) in enumerate(zip(lowest, highest, strict=False)) if a != b), len(lowest))
    shared = len(re.sub(r"[^\W_]+\Z", "", lowest[:alike]))
    own = {name[shared:]: index for index, name in stems.items()}
    return own | {name.replace("-", sign): index for name, index in own.items() for sign in "/.:"}


_WHERE: Mapping[object, Sequence[str]] = {"itself": ("process",), "called": ("stream",)}
"""By which names of writers some numbers are compared; others are by all."""
_KINDS = r"\A(?:lead|own|pid) "
"""What kinds of names there are before lines."""


def went_on(block: Block, source: Source, index: int, offset: int) -> frozenset[int]:
    """The ranks that say something of their own behind ``offset``."""
    said = (
        line.writer
        for line in lines_at_the_end(block, source, index, None, LOOK_AMONG)
        if line.offset > offset
    )
    return frozenset(int(writer) for writer in said if writer is not None and writer.isdecimal())


def _lines(blocks: Mapping[int, Block], sources: Sequence[Source]) -> Iterator[tuple[int, Said]]:
    most = LOOK_AMONG if len(blocks) <= FEW else share(LINES_IN_ALL, len(blocks), FEWEST, LOOK)
    for index, block in sorted(blocks.items()):
        seen: set[int] = set()
        for line in (
            *lines_at_the_start(block, sources[index], index, None, most),
            *lines_at_the_end(block, sources[index], index, None, min(LOOK, most)),
        ):
            if line.offset not in seen:
                seen.add(line.offset)
                yield index, line


def _before_all(lines: Sequence[tuple[int, Said]]) -> dict[int, str]:
    """By source what the names of all its writers begin with, such as that of a container, if some have more to them."""
    streams: dict[int, set[str]] = defaultdict(set)
    for index, line in lines:
        streams[index].add(line.prefix.stream)
    found: dict[int, str] = {}
    for index, names in streams.items():
        firsts = {name.partition("/")[0] for name in names}
        if len(firsts) == 1 and len(names) > 1 and "" not in firsts:
            found[index] = firsts.pop() + "/"
    return found


def _without_own(line: Said, *names: str) -> str:
    """The wording of a line without the words in it that its writer or its log is called by: ``# subdomain NE (rank 1)``."""
    own = {word.lower() for name in names for word in compiled(r"[^\W\d_]+").findall(name)}
    if own.isdisjoint(compiled(r"[^\W\d_]+").findall(line.wording)):
        return line.wording
    return compiled(r"[^\W\d_]+").sub(lambda word: "@" if word[0] in own else word[0], line.wording)


def _numbers(line: Said) -> list[tuple[tuple[object, ...], int]]:
    """The numbers in a line that may be its writer's rank, and where in the wording they stand."""
    return list(_stated(line))


def _stated(line: Said) -> Iterator[tuple[tuple[object, ...], int]]:
    if compiled(r"\d").search(line.message) is None:
        return
    for at, said in enumerate(compiled(_RANK).finditer(line.message)):
        if not (said["before"] or "").rstrip(" _-").lower().endswith(OF_A_PART):
            yield ("rank", at), int(said["rank"])
    for at, said in enumerate(compiled(_AMONG).finditer(line.message)):
        if int(said["rank"]) < int(said["size"]):
            yield ("among", at, int(said["size"])), int(said["rank"])
    for at, said in enumerate(compiled(_COUNTED).finditer(line.message)):
        yield ("counted", at), int(said["rank"])
    for at, said in enumerate(compiled(_CALLED).finditer(line.message)):
        yield ("called", at), int(said["rank"])
    itself = compiled(_ITSELF).match(line.message) if line.prefix.pid is not None else None
    if itself is not None:
        yield ("itself",), int(itself["rank"])


def _as_named(told: Mapping[Writer, set[int]], named: Mapping[Writer, set[int]]) -> bool:
    """Whether several writers count themselves by the ranks that their tags give them, and none by another number."""
    known = {writer: ranks for writer, ranks in told.items() if named.get(writer)}
    return len(known) > 1 and all(ranks == named[writer] for writer, ranks in known.items())


def _of_whole(
    stated: Mapping[tuple[str, str, tuple[object, ...]], Mapping[Writer, set[int]]],
) -> dict[Writer, set[int]]:
    """What writers say of themselves in several wordings, such as ``server: 0 of 4``, if they are all that there are."""
    found: dict[tuple[str, object], dict[Writer, set[int]]] = defaultdict(lambda: defaultdict(set))
    for (kind, _, slot), told in stated.items():
        if slot[0] == "among" and len(set().union(*told.values())) == len(told):
            for writer, ranks in told.items():
                found[kind, slot[2]][writer] |= ranks
    return {
        writer: ranks
        for (_, size), told in found.items()
        if len(told) == size and _of_themselves(told, contiguous=True)
        for writer, ranks in told.items()
    }


def _of_several(told: Mapping[Writer, set[int]]) -> bool:
    """Whether under each of several names as many ranks in a row say it, and under all of them all that there may be."""
    sizes = {len(ranks) for ranks in told.values()}
    numbers = set().union(*told.values())
    whole = numbers == set(range(len(told) * max(sizes, default=0)))
    rows = all(max(ranks) - min(ranks) < len(ranks) for ranks in told.values())
    return len(told) > 1 and len(sizes) == 1 and max(sizes) > 1 and whole and rows


def _of_themselves(told: Mapping[Writer, set[int]], *, contiguous: bool) -> bool:
    """Whether several writers say it, each with one number of its own."""
    if len(told) < 2 or any(len(ranks) != 1 for ranks in told.values()):
        return False
    numbers = set().union(*told.values())
    return len(numbers) == len(told) and (not contiguous or numbers == set(range(len(numbers))))
