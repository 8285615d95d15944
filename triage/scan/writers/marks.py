"""A number by which the processes of a job tell themselves apart in a log format of their own: ``r2/4 INFO: …``, ``<pe 2> …``.

What such a number stands for no single line tells. Over the lines of a source it shows: it stands at one place of nearly
all records, takes all values from 0 on, and changes from line to line as the processes take turns. Counters go up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise, zip_longest
from operator import gt, ne

from triage.scan.lazy import deferred
from triage.scan.prefixes.draft import LEVEL_WORD
from triage.scan.writers.seated import host_before, on_hosts

HEAD = 72
"""Characters at the beginning of a line in which it stands."""
FEWEST = 8
"""Records by which it can be told."""
FEWEST_NAMED = 3
"""Processes that say so by a word, in a log with fewer records than that."""
MOST = 0.65
"""Part of the records that have it."""
AGAIN = 1.5
"""Records that a process has, on the average: one that is stuck may have a single one."""
TURNS = 0.4
"""Part of the records before which another process spoke."""
_NUMBERS = deferred(r"\d+")
_PLACE = r"(?:(?<![\w.])[\w.]{0,60}[A-Za-z_]\w{0,60}:\d+|0x[0-9a-f]+)"
"""A line of source, or an address."""
_LEVEL = rf" {{0,8}}\b(?:{LEVEL_WORD}|[Ii]nfo|[Ww]arn(?:ing)?|[Ee]rror|[Dd]ebug|[Cc]ritical|[DIWEF](?= ))\b {{0,8}}"
_PLACES = deferred(_PLACE)
_LEVELS = deferred(_LEVEL)
NO_RECORD = deferred(
    r"\s|Traceback |[\w.]+(?:Error|Exception|Interrupt)\b|\[rank\d|\[?[WIEF]\d{4} |terminate called|\{\"|NCCL |\*\*"
    r"|frame #|#\d+ |Exception raised from|[=-]{5,}|\S+ FAILED\s*$|Failures:|Root Cause \(|\[\d+\]:\s*$"
    r"|Thread 0x|Current thread|[^\n]{0,60}\d%\||The above exception |During handling of "
)
"""Tracebacks, stacks, tables, progress bars, and what torch, NCCL and launchers write in formats of their own."""
_COUNTERS = r"epoch|step|iter\w*|round|batch|layer|block|fold|seed|chunk|sample|attempt|trial|phase"
NOT_WRITERS = deferred(
    rf"(?i)(?<![a-z])(?:{_COUNTERS})[ =:#\[(_.-]{{0,2}}(?:\x00|\Z)"
    r"|(?<![a-z])(?:local_?rank=?|v|loss|acc\w*|lr|time|t|size|mem(?:ory)?|total|count|node|host|machine|local|cuda|gpu|device|dev|npu|thread|pid|port|line"
    r"|cpu|numa|job|array|[tdpec]p)[ =:#\[(_.-]{0,2}\Z"
)
"""What stands before a number that counts something else than the processes of a job."""
_NATIVE = deferred(r"\.(?:cpp|cc|hpp|h):\d+\]")
_WRITERS = deferred(
    r"(?i)(?<![a-z])(?<!local)(?<!local[_ -])(?:(?:global|world)[_ ]?)?(?:rank|rk|r|worker|w|proc(?:ess)?|trainer|replica|pe|member|actor)"
    r"[ =:#_.\[(-]{0,2}\Z"
)
"""What stands before the number of a process."""
_DATA_PARALLEL = deferred(r"(?i)(?<![a-z])dp[ =:#_.-]{0,2}\Z")
_OTHERWISE_PARALLEL = deferred(r"(?i)(?<![a-z])[tpec]p[ =:#_.-]{0,2}\d")


def mark_of(lines: Sequence[str], records: Sequence[str] | None = None) -> tuple[re.Pattern[str], int] | None:
    """What matches a record from its beginning up to that number, its last group, and what is counted from; None without.

    Where it counts the processes of a host, the first of two groups is the host's name, or a number that counts from there.

    Args:
        records: those of the lines that are, where somebody has found them.
    """
    if records is None:
        records = [line for line in lines if not NO_RECORD.match(line)]
    heads = [line[:HEAD] for line in records]
    if len(heads) < FEWEST:
        return _of_few(heads, lines)
    places: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
    whole: dict[tuple[int, str], set[str]] = defaultdict(set)
    for at, small in _small_numbers(heads):
        for value, number in small:
            before, of = number.string[: number.start()], _OF.match(number.string, number.end())
            place = at, shape_of(before)
            places[place].append((value, before))
            whole[place].add("" if of is None else of[1])
    for place, rows in sorted(places.items(), key=lambda place: len(place[0][1])):
        values = [value for value, _ in rows]
        if len(values) < MOST * len(heads):
            continue
        on_hosts = _hosted(rows)
        if on_hosts is not None and _take_turns(values):
            return re.compile(on_hosts), 0
        on_nodes = _of_nodes(place[1], heads)
        if on_nodes is not None:
            return re.compile(on_nodes), min(values)
        data_parallel = _DATA_PARALLEL.search(place[1]) and not any(map(_OTHERWISE_PARALLEL.search, heads))
        if NOT_WRITERS.search(place[1]) and not data_parallel:
            continue
        # ``(1/4)`` to ``(4/4)`` count from 1
        base = int(whole[place] == {str(max(values))})
        own = [value - base for value in values]
        if _take_turns(own) or (_all_of_them(own) and _of_ranks(place[1], own)):
            mark = re.compile(pattern_of(place[1]))
            return None if contradicted(mark, base, lines) else (mark, base)
    return None


def _small_numbers(heads: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, re.Match[str]]]]]:
    """The places among the numbers of a line at which nearly all have one that may be a process', with these."""
    least = MOST * len(heads)
    columns = zip_longest(*map(_numbers_in, heads), fillvalue=_NO_NUMBER)
    for at, column in enumerate(islice(columns, _FIRST_NUMBERS + 1)):
        # most numbers are large, the same or count up, whatever stands around them
        told = [value for text in column if len(text) < _LONG and 2 * (value := int(text)) <= len(heads)]
        if len(told) < least or not any(map(gt, told, islice(told, 1, None))):
            continue
        found: list[tuple[int, re.Match[str]]] = []
        for head, text in zip(heads, column, strict=True):
            if len(text) >= _LONG:
                continue
            number = next(islice(_NUMBERS.finditer(head), at, None))
            end = number.end()
            if end == len(head) or _of_fraction(head, number.start()):
                continue
            if head[end] == "." and _MORE.match(head, end):
                continue  # one of several that tell the writers apart together
            found.append((int(number[0]), number))
        small = [(value, number) for value, number in found if 2 * value <= len(found)]
        if len(small) < least:
            continue
        values = [value for value, _ in small]
        first = small[0][1]
        if _up_and_down(values, MOST) or _of_ranks(first.string[: first.start()], values):
            yield at, small


@lru_cache(maxsize=256)
def _numbers_in(head: str) -> Sequence[str]:
    """All numbers in the beginning of a line; that of a log is looked at again without some of its lines."""
    return _NUMBERS.findall(head)


def _of_fraction(head: str, at: int) -> bool:
    """Whether the digits there are those behind a point."""
    return at > 1 and head[at - 1] == "." and head[at - 2].isdecimal()


def _of_few(heads: Sequence[str], lines: Sequence[str]) -> tuple[re.Pattern[str], int] | None:
    """The same of a log with few records: all of them have the number, behind a word for a process, and none is missing."""
    places: dict[str, list[int]] = defaultdict(list)
    for head in heads:
        if _NATIVE.search(head) is not None:
            continue  # what torch itself counts there may be within a group
        numbers = (n for n in _NUMBERS.finditer(head) if _WRITERS.search(head, 0, n.start()) is not None)
        own = next(numbers, None)
        if own is None or len(own[0]) >= _LONG or own.end() == len(head):
            return None
        places[shape_of(head[: own.start()])].append(int(own[0]))
    values = next(iter(places.values()), [])
    if len(places) != 1 or len(set(values)) < FEWEST_NAMED or set(values) != set(range(len(set(values)))):
        return None
    mark = re.compile(pattern_of(next(iter(places))))
    return None if contradicted(mark, 0, lines) else (mark, 0)


def contradicted(mark: re.Pattern[str], base: int, lines: Sequence[str]) -> bool:
    """Whether torch's tag behind the number says another rank: pods may be numbered from the second process on."""
    told = [(found, TAGGED.search(line, found.end())) for line in lines if (found := mark.match(line))]
    return any(tag is not None and int(tag[1]) != int(found[1]) - base for found, tag in told)


TAGGED = deferred(r"\[rank(\d{1,6})\]")
"""Torch's own tag, with the rank of the process."""


def _of_nodes(before: str, heads: Sequence[str]) -> str | None:
    """What matches up to the number of a process on its node, where the number that was found is a node's: ``(g0 l1)``."""
    found = _NODE_END.search(before)
    if found is None:
        return None
    pattern = _escaped(before) + r"(\d{1,4})" + _BETWEEN + _LAST
    like = re.compile(pattern)
    pairs = {(int(own[1]), int(own[2])) for head in heads if (own := like.match(head)) is not None}
    nodes, local = {node for node, _ in pairs}, {number for _, number in pairs}
    every = len(nodes) > 1 and len(local) > 1 and local == set(range(len(local)))
    return pattern if every and len(pairs) == len(nodes) * len(local) else None


_NODE_END = deferred(
    r"(?i)(?<![a-z])(?:n|node|g|group|h|host|m|machine|pod|server|agent)(?:[_ ]?rank)?[ =:#_.-]{0,2}\Z"
)
_BETWEEN = (
    r"[ ,./:;|_-]{0,3}(?:l|lr|local|local[_ ]?rank|gpu|cuda|dev|device|slot|proc|p|r|rank)[ =:#_.-]{0,2}"
)


def _hosted(rows: Sequence[tuple[int, str]]) -> str | None:
    """What matches up to the number where it stands behind the name of a host, whose own it is."""
    told = [host_before(before) for _, before in rows]
    hosts = [host for host, _ in filter(None, told)]
    if len(hosts) < len(rows) or not on_hosts(zip(hosts, (value for value, _ in rows), strict=True)):
        return None
    host, between = next(filter(None, told))
    before = rows[0][1].removesuffix(host + between)
    return f"{_escaped(shape_of(before))}({_escaped(shape_of(host))}){_escaped(between)}{_LAST}"


_MORE = deferred(r"\.\d+[\])>}]")
"""What stands behind a number where another one is needed to tell the writer: ``<1.2>``."""
_OF = deferred(r" ?(?:/|of) ?(\d{1,5})(?!\d)")
_SEVERAL = 4
"""Processes of which one that is missing is told by the others."""
_FIRST_NUMBERS = 14
_LONG = 5
_NO_NUMBER = "9" * _LONG
"""Stands where a line has fewer numbers."""


def shape_of(text: str) -> str:
    """What stands before a number, without what changes from record to record."""
    # which digits they are tells nothing but that 0x begins an address: lines of one kind are looked at once
    return _shape_once(text.replace("0x", "\3").translate(_ALIKE).replace("\3", "0x"))


_ALIKE = dict.fromkeys(map(ord, "0123456789"), "1")


@lru_cache(maxsize=1024)
def _shape_once(text: str) -> str:
    return _NUMBERS.sub("\0", _LEVELS.sub("\1", _PLACES.sub("\2", text)))


_LAST = r"(\d{1,5})(?!\d)"


def pattern_of(shape: str) -> str:
    """What matches a record from its beginning up to the number behind ``shape``, which is its last group."""
    return _escaped(shape) + _LAST


def _escaped(shape: str) -> str:
    kinds = {"\0": r"\d+", "\1": _LEVEL, "\2": _PLACE, " ": " +"}
    return "".join(kinds.get(char) or re.escape(char) for char in re.sub(" +", " ", shape))


def _take_turns(values: Sequence[int]) -> bool:
    """Whether these are all numbers from 0 on, that come again and again, up and down; of several, one may never have come."""
    known = set(values)
    if len(known) < 2 or 0 not in known or min(known) < 0 or len(values) < AGAIN * len(known):
        return False
    if max(known) + 1 - len(known) > (1 if len(known) >= _SEVERAL else 0):
        return False
    return _up_and_down(values)


def _all_of_them(values: Sequence[int]) -> bool:
    """Whether these are all numbers from 0 on, that come again."""
    known = set(values)
    return len(known) > 1 and known == set(range(len(known))) and len(values) >= AGAIN * len(known)


def _of_ranks(before: str, values: Sequence[int]) -> bool:
    """Whether a number is called a rank's and goes down too: processes that write all they have at a time hardly take turns."""
    return _RANKS.search(before) is not None and any(b < a for a, b in pairwise(values))


_RANKS = deferred(r"(?i)(?<![a-z])(?:r|rk|rank|pe)[ =:#(<_.-]{0,2}\Z")


def _up_and_down(values: Sequence[int], part: float = 1.0) -> bool:
    """Whether ``part`` of these, taken in their order, can go up and down as processes do that take turns."""
    turns = sum(map(ne, values, islice(values, 1, None)))
    least = part * TURNS * len(values)
    if turns < least:
        return False
    downs = sum(map(gt, values, islice(values, 1, None)))
    return bool(4 * downs >= (least if part < 1 else turns))
