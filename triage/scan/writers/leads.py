"""What somebody put before every line of a source, and which no prefix is known for: ``[p1] ``, ``w3| ``, ``alpha: ``.

A shell loop with ``sed``, a supervisor or a console names the writers of one log in words of its own. By a single line
they can't be told from a program's own words; the lines of the source together show them: nearly all begin alike,
under a few names that come again and again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from triage.model import Block, Leads, Prefix, Slot
from triage.scan.lazy import Lazy, deferred
from triage.scan.prefix import clean, prefix_length, split_line
from triage.scan.prefixes.containers import unwrap_json
from triage.scan.prefixes.draft import Draft
from triage.scan.tracebacks.lines import HEADER
from triage.scan.writers.gridded import grid_of, rank_at
from triage.scan.writers.keyed import keyed, pids
from triage.scan.writers.marks import NO_RECORD, mark_of
from triage.scan.writers.placed import in_slot, level_before, sat
from triage.scan.writers.same_lead import same_lead
from triage.scan.writers.seated import on_hosts, seat_of, seated
from triage.scan.writers.slots import slot_of
from triage.scan.writers.sparse import sparse_mark_of

LOOK = 60
"""Lines at either end of what is there that are looked at."""
WINDOW = 16 << 10
"""Bytes at either end in which they are."""
MOST = 0.8
"""Part of all lines that begin with a number under a name, or a name and a number, where these are leads."""
NEARLY_ALL = 0.9
"""The same for names without a number, as loggers have them too."""
FEWEST = 4
"""Lines by which anything can be told."""
_BAR = r"[|│┃▏▌»›•]"
_LEAD = Lazy(
    r"[\[(<{] {0,2}(?P<boxed>[A-Za-z][\w.@:/#-]{0,48}(?:(?:[ =:#]{1,2}|, ?)\d{1,8}(?:/\d{1,5})?)?"
    r"|\d{1,5}(?:(?:/| of )\d{1,5})?) {0,2}[\])>}]"
    r"(?:(?: ?[:|>]|->|=>)?(?: |\t|$)|(?P<colon>:))"
    r"|(?P<named>[A-Za-z][\w.@/#-]{0,48}(?:[ #:=]\d{1,8})?) {0,12}(?::|" + _BAR + r"|>|=>|->)(?: |\t|$)"
    r"|(?P<bare>\d{1,5}) {0,4}(?:" + _BAR + r"|>|=>|->)(?: |\t|$)"
    r"|(?P<hash>#\d{1,5}):?(?: |\t|$)"
    r"|(?P<indexed>[A-Za-z][\w.-]{0,30}\[\d{1,4}\]):?(?: |\t|$)"
    r"|(?P<spaced>[A-Za-z][\w.-]{0,48}[:/@#]\d{1,5})(?: |$)"
    r"|(?P<plain>[a-z][a-z0-9.-]{0,60}-\d{1,5})(?: |$)"
    r"|(?P<tabbed>[A-Za-z][\w.@/#-]{0,48}|\d{1,5})\t"
)
_CONTAINER = Lazy(r"(?P<pod>[a-z][a-z0-9.-]{0,60}-\d{1,5} [a-z][a-z0-9-]{1,40})(?: |$)")
"""The names of a pod and its container, as stern writes them."""
_RANKED = deferred(r"(?i)(?:global[ _-]?)?rank[ _:#=-]?(\d{1,5})")
_DIGITS = deferred(r"\d+")
_NUMBER = deferred(r"\d+(?=\D*\Z)")
_PROCESS = deferred(r"[A-Za-z]{0,8}[ _#=:-]?\d{1,5}")
"""What stands in a logger's place and is none."""
_BEFORE_LOGGER = deferred(r"[\[(<{]?[A-Za-z]{0,8}[ _#=:-]?\Z")
"""What may stand between the beginning of a logger's place and a process's number that comes before the logger's name."""
_PID = deferred(r"(?i)pid[ =:#-]?(\d{2,8})|[a-z][\w.-]{0,60}\[(\d{3,8})\]")
_COUNTS = deferred(
    r"(?i)(?:epoch|step|iter\w*|round|batch|layer|block|bucket|expert|fold|seed|chunk|part|shard|file|line|sample|test|attempt|trial"
    r"|phase|level|version|head|group|channel|state|try|restart|loop|page|row|col\w*|key|loss|acc(?:uracy)?|lr|time|size|mem(?:ory)?|total|count|v)"
    r"[ =:#_-]{0,2}\Z"
)
"""What stands before a number that counts something else than processes."""
_SOURCE = deferred(r"\.(?:py|cpp|cc|cu|cuh|hpp|h|c|go|rs|sh|ya?ml|json)(?:[:#@]\d+)?\Z")
"""The end of a file's name, as loggers state where in a program they are."""
_WORDS = frozenset(
    ["trace", "debug", "info", "notice", "warning", "warn", "error", "err", "critical", "fatal", "note", "hint", "usage", "file",
     "traceback", "exception", "step", "epoch", "loss", "http", "https", "downloading", "loading", "saving", "done", "ok"]
)  # fmt: skip
"""Words before a colon that name no writer."""
_RAISED = (HEADER, '  File "')
_TAGGED = deferred(r"^\[rank\d{1,6}\]: ?")
"""torch's own tag, behind whatever its launcher writes."""
_STAMPED = deferred(r"\[?\d{1,4}[-:/]")
_COLLECTED = deferred(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{7}|\d{9})Z "
    r"|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?[+-]\d\d:\d\d)"
    r" [\w.-]{1,64} [\w.@-]{1,64}\[\d{1,8}\]: ",
    needs=("stdout", "stderr", "]: ", "Z "),
)
"""What the runtimes of containers, CI runners, journald and rsyslog write before every line; see :mod:`triage.scan.prefixes`."""


NONE = Leads()
_KEPT = 16
"""Logs whose leads are kept: several are read at a time."""


def split(leads: Leads, line: str) -> tuple[Prefix, str]:
    """What :func:`triage.scan.prefix.split_line` says of ``line``, its lead named in the stream."""
    if leads != NONE and ("\x1b" in line or _COLLECTED.match(line)):
        cover, rest = _uncovered(line)
        prefix, message = split(leads, rest)
        return prefix._replace(
            length=prefix_length(line, message),
            stream="/".join(filter(None, (cover.stream, prefix.stream))),
            host=cover.host if prefix.host is None else prefix.host,
            pid=cover.pid if prefix.pid is None else prefix.pid,
            time=cover.time if prefix.time is None else prefix.time,
        ), message
    if leads.slot is not None:
        return in_slot(leads, leads.slot, line)
    if leads.same and line.startswith(leads.same):
        rest = line[len(leads.same) :]
        inner, message = split_line(rest) if leads.behind is None else split(leads.behind, rest)
        return inner._replace(length=len(leads.same) + inner.length), message
    if line.startswith('{"') and (leads.names or leads.mark is not None):
        collected = _collected(leads, line)
        if collected is not None:
            return collected
    if leads.pid is not None:
        return _of_process(line, leads.pid)
    if not leads.names:
        return split_line(line) if leads.mark is None else _marked(line, leads.mark, leads)
    found = _found(leads, line, 0)
    outer = None
    if found is None and _STAMPED.match(line):
        outer, _ = split_line(line)
        found = _found(leads, line, outer.length)
    if found is None:
        return split_line(line)
    end = _message(line, found)
    inner, message = split_line(line[end:])
    process = _PID.fullmatch(_name(found))
    if process is not None and inner.pid is None:
        pid = int(process[1] or process[2])
        writer = f"pid {pid}"
        stream = f"{writer}/{inner.stream}" if inner.stream else writer
        return inner._replace(pid=pid, length=end + inner.length, stream=stream), message
    seat = seat_of(_name(found)) if leads.seated else None
    if leads.numbered and inner.rank is not None and inner.stream == f"task {inner.rank}":
        seat, inner = (_name(found), inner.rank), inner._replace(rank=None, stream="")
    if seat is not None:
        return sat(inner, *seat)._replace(length=end + inner.length), message
    name = "lead " + _name(found).replace("/", ":")
    stream = f"{name}/{inner.stream}" if inner.stream else name
    prefix = inner._replace(length=end + inner.length, stream=stream)
    if prefix.level is None:
        # what stands before the words of a program may hold the level too
        prefix = prefix._replace(level=level_before(line, end))
    own = _RANKED.fullmatch(_name(found)) if prefix.rank is None else None
    if own is not None:
        prefix = prefix._replace(rank=int(own[1]), stream=f"{stream}/rank{int(own[1])}")
    if outer is not None and inner.time is None:
        prefix = prefix._replace(time=outer.time)
    return prefix, message


def _uncovered(line: str) -> tuple[Prefix, str]:
    """``line`` without colours and what a container's runtime stamps on every line, and what that says."""
    text = clean(line)
    found = _COLLECTED.match(text)
    if found is None:
        return Prefix(), text
    return split_line(found[0])[0], text[found.end() :]


def _collected(leads: Leads, line: str) -> tuple[Prefix, str] | None:
    """The same of a line that a collector keeps in JSON: the lead stands before the message in it."""
    draft = Draft()
    text = unwrap_json(line, 0, draft)
    if text is None:
        return None
    outer = draft.finish(0)
    inner, message = split(leads, text)
    return (
        inner._replace(
            length=max(0, line.find(message)),
            stream="/".join(filter(None, (outer.stream, inner.stream))),
            rank=outer.rank if inner.rank is None else inner.rank,
            time=outer.time if inner.time is None else inner.time,
            level=outer.level if inner.level is None else inner.level,
            stamped=outer.stamped or inner.stamped,
            recorded=outer.recorded or inner.recorded,
        ),
        message,
    )


def _marked(line: str, mark: re.Pattern[str], leads: Leads) -> tuple[Prefix, str]:
    base = leads.base
    prefix, message = split_line(line)
    own = mark.match(line) if prefix.rank is None and prefix.local_rank is None else None
    if own is None or (
        own.start(1) < prefix.length and line[own.start(1) - 1] != "=" and not _in_loggers_place(own, prefix)
    ):
        return prefix, message
    if leads.width:
        return _numbered(prefix, line, own, rank_at(int(own[1]), int(own[2]), leads.width)), message
    if mark.groups > 1:
        host = str(int(own[1]) - base) if own[1].isdecimal() else own[1]
        return sat(prefix, host, int(own[2]))._replace(stamped=True, recorded=True), message
    if int(own[1]) >= base:
        prefix = _numbered(prefix, line, own, int(own[1]) - base)
    return prefix, message


def _numbered(prefix: Prefix, line: str, own: re.Match[str], rank: int) -> Prefix:
    """``prefix`` of the rank that a mark in ``line`` tells."""
    stream = f"{prefix.stream}/rank{rank}".lstrip("/")
    level = prefix.level or level_before(line, own.end())
    return prefix._replace(rank=rank, stream=stream, stamped=True, recorded=True, level=level)


def _in_loggers_place(own: re.Match[str], prefix: Prefix) -> bool:
    """Whether a number stands where a logger's name does, or before it; elsewhere in a known prefix it means something else."""
    logger = prefix.logger or ""
    if _PROCESS.fullmatch(logger) is not None:
        return True
    begin = own.string.find(logger) if logger else -1
    return (
        0 <= begin <= own.start(1) and _BEFORE_LOGGER.fullmatch(own.string, begin, own.start(1)) is not None
    )


def _of_process(line: str, pid: re.Pattern[str]) -> tuple[Prefix, str]:
    """The prefix with the pid that a program gives with its lines."""
    prefix, message = split_line(line)
    own = pid.match(line) if prefix.pid is None and not NO_RECORD.match(line) else None
    if own is not None:
        stream = f"{prefix.stream}/pid {own[1]}".lstrip("/")
        prefix = prefix._replace(pid=int(own[1]), stream=stream, stamped=True, recorded=True)
    return prefix, message


def _found(leads: Leads, line: str, at: int) -> re.Match[str] | None:
    for pattern in (_CONTAINER, _LEAD):
        found = pattern.match(line, at)
        if found is not None and (_name(found) in leads.names or _shape(found) in leads.shapes):
            return found
    return None


def leads_of(block: Block) -> Leads:
    """The leads of the source that ``block`` is the beginning or the end of."""
    if block.leads is None:
        block.leads = learn(block.data)
    return block.leads


def learn(data: bytes) -> Leads:
    """The leads of the source that ``data`` is the beginning or the end of."""
    # the ends of one log are asked for by everybody who reads them
    rows = _rows(data)
    structured = bool(rows) and sum(row.startswith(b'{"') for row in rows) > MOST * len(rows)
    raw = tuple(row[:400].decode("utf-8", "replace") for row in rows) if structured else ()
    return _learned(tuple(map(_bare, rows)), raw)


@lru_cache(maxsize=_KEPT)
def _learned(lines: tuple[str, ...], raw: tuple[str, ...] = ()) -> Leads:
    """What is learned of lines; ``raw`` as they stand there, where a collector keeps them in JSON."""
    if len(lines) < FEWEST:
        return NONE
    names = _names_of(lines)
    if names:  # one alone is left where a prefix is known for all others, as for Compose's but the longest
        found = Leads(names, _shapes_of(names, lines), seated=seated(names))
        return found._replace(numbered=_numbered_behind(found, lines))
    records = [line for line in lines if not NO_RECORD.match(line)]
    own = _by_its_place(lines, raw, records)
    if own == NONE and not raw:
        # a launcher that writes into the same log under a name of its own is none of them
        others = [line for line in lines if _TAG.match(line) is None]
        if len(others) < len(lines):
            own = _by_its_place(others, raw, [line for line in records if _TAG.match(line) is None])
    if own != NONE:
        return own
    same = same_lead(lines)
    if not same:
        return NONE
    behind = _learned(tuple(line[len(same) :] for line in lines))
    told = behind.names or behind.mark is not None or behind.slot is not None
    return Leads(same=same, behind=behind if told else None)


_TAG = deferred(r"\[[A-Za-z][A-Za-z _-]*\]|[A-Za-z][A-Za-z_-]*(?:\.(?:sh|py))?: ")
"""What a program that speaks for itself puts before its lines."""


def _by_its_place(lines: Sequence[str], raw: Sequence[str], records: Sequence[str]) -> Leads:
    """Who writes, by a place that lines of all writers have; ``records`` are those of the lines that are."""
    slot = slot_of(raw or lines)
    if slot is not None and _told_already(raw or lines, slot):
        slot = None
    grid = grid_of(records)
    if grid is not None:
        return Leads(mark=grid[0], width=grid[1])
    own = mark_of(lines, records) or sparse_mark_of(lines, records)
    if own is not None and (slot is None or _as_many(own[0], slot, lines)):
        return Leads(mark=own[0], base=own[1])
    under_name = keyed(records)
    if under_name is not None:
        return Leads(mark=under_name)
    of_process = pids(records)
    if of_process is not None:
        return Leads(pid=of_process)
    return NONE if slot is None else Leads(slot=slot, seated=seated(slot.names))


def _told_already(lines: Sequence[str], slot: Slot) -> bool:
    """Whether known prefixes tell the writers of many lines apart, and there are no others beside them."""
    streams = [
        prefix.stream for line in lines if (prefix := split_line(line)[0]).rank is not None or prefix.stream
    ]
    known = set(streams)
    return len(streams) >= FEW_KNOWN * len(lines) and len(known) > 1 and not known < slot.names


FEW_KNOWN = 0.4
"""Part of the lines from which on their writers are known."""


def _as_many(mark: re.Pattern[str], slot: Slot, lines: Sequence[str]) -> bool:
    """Whether a number tells as many writers apart as whole names do, of which it may be a part."""
    numbers = {found[found.re.groups] for line in lines if (found := mark.match(line)) is not None}
    return len(numbers) >= len(slot.names)


def _names_of(lines: Sequence[str]) -> frozenset[str]:
    """The names under which most lines begin."""
    families: dict[tuple[str, str], list[str]] = defaultdict(list)
    marked: Counter[str] = Counter()
    raised: set[str] = set()
    without = 0
    for line in lines:
        found = _LEAD.match(line, 0)
        if found is None and _STAMPED.match(line):
            outer, _ = split_line(line)
            found = None if outer.stream else _LEAD.match(line, outer.length)
        if found is None or not _plausible(_name(found)):
            without += 1
            if len(lines) - without < MOST * len(lines):
                return frozenset()
            continue
        mark, shape = _shape(found)
        families[mark, shape].append(_name(found))
        marked[mark] += 1
        if _TAGGED.sub("", line[_message(line, found) :]).startswith(_RAISED):
            raised.add(_name(found))
    greatest: dict[str, int] = defaultdict(int)
    for (mark, shape), said in families.items():
        greatest[mark] = max(greatest[mark], len(said) if shape else 0)
    names: set[str] = set()
    for (mark, shape), said in families.items():
        told = not raised.isdisjoint(said)
        if len(said) < FEWEST or not _come_again(
            said, once=bool(shape) and len(raised.intersection(said)) > 1
        ):
            continue
        if shape:
            most = 2 * greatest[mark] >= len(lines) and marked[mark] >= MOST * len(lines)
            fair = told or not any(line.startswith(_RAISED) for line in lines)
        else:
            most, fair = len(said) >= NEARLY_ALL * len(lines), told
        if most and fair:
            names.update(said)
    return frozenset(_with_container(name, lines) for name in names if not _known(name, lines))


def _shapes_of(names: frozenset[str], lines: Sequence[str]) -> frozenset[tuple[str, str]]:
    """What names that differ in a number have in common: others of them may write in between only."""
    shapes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in lines:
        found = _found(Leads(names), line, 0)
        if found is None and _STAMPED.match(line):
            found = _found(Leads(names), line, split_line(line)[0].length)
        if found is not None and _shape(found)[1]:
            shapes[_shape(found)].add(_name(found))
    return frozenset(shape for shape, said in shapes.items() if len(said) > 1)


def _numbered_behind(leads: Leads, lines: Sequence[str]) -> bool:
    """Whether numbers of processes stand behind the names, which are the same under all of them."""
    seats: list[tuple[str, int]] = []
    for line in lines:
        prefix, _ = split(leads, line)
        outer, _, inner = prefix.stream.partition("/")
        if outer.startswith("lead ") and prefix.rank is not None and inner == f"task {prefix.rank}":
            seats.append((outer.removeprefix("lead "), prefix.rank))
    several = len({host for host, _ in seats}) > 1
    return several and len(seats) >= MOST * len(lines) and on_hosts(seats)


def _rows(data: bytes) -> list[bytes]:
    """Some lines from both ends."""
    if len(data) <= 2 * WINDOW:
        rows = [row for row in data.splitlines() if row.strip()]
        return rows if len(rows) <= 2 * LOOK else [*rows[:LOOK], *rows[-LOOK:]]
    first = [row for row in data[:WINDOW].splitlines()[:-1] if row.strip()]
    last = [row for row in data[-WINDOW:].splitlines()[1:] if row.strip()]
    return [*first[:LOOK], *last[-LOOK:]]


def _bare(row: bytes) -> str:
    """The beginning of a line, of its message where a collector keeps it in JSON."""
    text = unwrap_json(row.decode("utf-8", "replace"), 0, Draft()) if row.startswith(b'{"') else None
    if text is not None:
        return text.partition("\n")[0][:160]
    return _uncovered(row[:200].decode("utf-8", "replace"))[1]


def _name(found: re.Match[str]) -> str:
    return next(text for group, text in found.groupdict().items() if text is not None and group != "colon")


def _message(line: str, found: re.Match[str]) -> int:
    """Index of the message behind a lead: some write a space after a colon, and Python indents by even numbers."""
    end = found.end()
    if found.groupdict().get("colon") is None:
        return end
    spaces = len(line) - end - len(line[end:].lstrip(" "))
    return end + spaces % 2


def _shape(found: re.Match[str]) -> tuple[str, str]:
    """How a lead is marked off, and its words without their numbers; no words where it is nothing but a word.

    Leads of one family differ in their numbers, or in their word; ``vllm-0`` leads ``vllm-0-1`` and ``vllm-0-2``.
    """
    name = _name(found)
    mark = found[0].replace(name, "", 1).strip()
    return mark, "" if _NUMBER.search(name) is None else _DIGITS.sub("\0", name).replace("\0-\0", "\0")


def _plausible(name: str) -> bool:
    if _SOURCE.search(name) is not None:
        return False
    number = _NUMBER.search(name)
    if number is not None:
        return _COUNTS.search(name[: number.start()]) is None
    return name.lower() not in _WORDS


def _come_again(said: list[str], *, once: bool) -> bool:
    """Whether there are several names, none of them for a passing thing: they take turns.

    Processes that write all they have at their end, ``once`` each, show that by their tracebacks.
    """
    times = Counter(said)
    if len(times) < 2:
        return False
    turns = sum(1 for one, other in pairwise(said) if one != other)
    return turns >= len(times) - once and sum(times.values()) >= 2 * len(times)


def _with_container(name: str, lines: Sequence[str]) -> str:
    """``name`` with the word that stands behind it on all lines, of a traceback too: no program would say it there."""
    after = [line.partition(f"{name} ")[2] for line in lines if f"{name} " in line]
    words = {text.partition(" ")[0] for text in after}
    if len(words) != 1 or not any(text.partition(" ")[2].startswith(_RAISED) for text in after):
        return name
    longer = f"{name} {words.pop()}"
    return longer if _CONTAINER.match(longer, 0) is not None else name


def _known(name: str, lines: Sequence[str]) -> bool:
    """Whether a prefix is known for lines that begin so."""
    line = next((one for one in lines if name in one[: len(name) + 40]), "")
    found = _LEAD.match(line, 0)
    if found is None or _name(found) != name:
        return False
    prefix, _ = split_line(line[: _message(line, found)] + "some words")
    return bool(prefix.stream) or (prefix.length > 0 and (prefix.rank, prefix.local_rank) != (None, None))
