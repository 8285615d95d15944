"""Whose exception a traceback is, by what stands around it: a launcher's word, a record of the logger, the name of a process."""

from __future__ import annotations

import re
from itertools import islice

from triage.model import Prefix
from triage.scan.lazy import compiled, deferred
from triage.scan.prefix import Continuation, native
from triage.scan.traceback import HEADER, Traceback
from triage.scan.tracebacks.lines import LINKS
from triage.scan.traced import CLOSE
from triage.scan.window import BlockLines, Line

_PASSED_ON = r"Traceback \(most recent call last\): \(RANK (\d{1,6})\)\s*$"
_CALLED = r"\bOn WorkerInfo\(id=(\d{1,6}), name=[^)\n]{1,120}\):\s*$"
"""How torch's RPC names the process that raised what a call brings back; its number is its rank."""
_ALARM = r"(?i)\b(?:exceptions?|errors?|fail(?:ed|ure)?|crash(?:ed)?|fatal)\b"
_BOOTSTRAP = r"Process ([^\s:][^\n:]{0,60}(?::\d{1,5})?):\s*$"
"""The name of a process, which Python's multiprocessing prints above what ended it."""
_OWN_NUMBER = r"(?i)(?:.*[^a-z])?(?:vllmworker|(?:(?:tp|pp|dp|global|world|mp)[_-]?)?rank|[tpd]p[_-]?worker)[ _:#-]?(\d{1,5})"
"""Names that engines make of a rank, and those that call the number one."""
_OF_PYTHON = r"(?:Spawn|Fork|ForkServer)?Process-(\d{1,5})"
"""Names that Python itself gives; it counts from 1 on all processes that a program starts."""
_ENDED = deferred(
    rb"(?m)(?:^|[ :|\]m])Process (?:Spawn|Fork|ForkServer)?Process-(\d{1,5}):(?:\x1b\[[\d;]*m)?\s*$"
)
_NUMBERED = (
    r"(?i)(?!(?:fork|spawn|forkserver|loky)?(?:pool|process)|data|loader|loky)"
    r"(.*?(?:worker|trainer|actor|learner|proc|stage|tp|gpu|shard|replica|node)s?[ _:#/-]?)(\d{1,5})"
)
"""Names that number workers; only where one has the number 0 they count as ranks do."""


def reported(view: BlockLines, line: Line) -> Prefix:
    """The prefix of a traceback: of one that a rank passes on, the rank that it came from.

    Distributed checkpoints raise on all ranks what failed on some, each under a header of its own; a remote call
    raises what the called process did, under the name of that one.
    """
    found = compiled(_PASSED_ON).search(line.message)
    if found is None and line.message.startswith(HEADER):
        for count, above in enumerate(view.preceding(line)):
            if above.prefix.stream == line.prefix.stream:
                found = compiled(_CALLED).search(above.message)
            if found is not None or count >= CLOSE:
                break
    if found is not None:
        return line.prefix._replace(rank=int(found[1]), local_rank=None)
    if line.message.startswith(HEADER) and line.prefix.rank is None:
        own = _named_process(view, line)
        if own is not None:
            return line.prefix._replace(rank=own)
    if line.message.startswith(HEADER) and line.prefix.rank is None and not line.prefix.stamped:
        # a logger names the rank in the record that the traceback belongs to
        record = record_above(view, line)
        # below what a native library wrote, Python prints what is somebody else's, or of another thread
        if record is not None and record.prefix.stamped and alarmed(record) and not native(record.prefix):
            stream = record.prefix.stream
            if (
                stream == line.prefix.stream
                or stream.removesuffix(f"rank{record.prefix.rank}").rstrip("/") == line.prefix.stream
            ):
                return line.prefix._replace(rank=record.prefix.rank, level=record.prefix.level)
            if _from_a_seat(stream, line.prefix.stream):
                seat = record.prefix
                return line.prefix._replace(stream=stream, rank=seat.rank, local_rank=seat.local_rank, host=seat.host,
                    labels=seat.labels, pid=seat.pid, level=seat.level,
                )  # fmt: skip
    return line.prefix


def _from_a_seat(stream: str, around: str) -> bool:
    """Whether ``stream`` is that of a process known by its place or pid, within what stands before all lines."""
    outer, _, last = stream.rpartition("/")
    return outer == around and last.startswith(("seat ", "pid ", "own "))


QUOTED = r"\s*(?:(?:\w+\.)*_?RemoteTraceback: ?)?(?:\"\"\")?\s*$"
"""What stands between a logger's record and the traceback of another process that it quotes."""
_CHAIN = 120
"""Lines that the earlier tracebacks of a chain may take."""


def record_above(view: BlockLines, line: Line) -> Line | None:
    """The record that the traceback on ``line`` belongs to, if it belongs to one: all of a chain belong to the same."""
    above = (r for r in islice(view.preceding(line), _CHAIN) if not compiled(QUOTED).match(r.message))
    record = next(above, None)
    if record is None or record.prefix.stamped or not record.message.startswith(LINKS):
        return record
    return next((r for r in above if r.prefix.stamped), None)


def _named_process(view: BlockLines, line: Line) -> int | None:
    """The rank in the name of the process that a traceback ended, as multiprocessing prints it above."""
    above = writers_line_above(view, line)
    found = None if above is None else compiled(_BOOTSTRAP).match(above.message)
    if found is None:
        return None
    before = None if above is None else writers_line_above(view, above)
    if before is not None and compiled(_BOOTSTRAP).match(before.message) is not None:
        return None  # two processes write at once: whose traceback comes first is not told
    own = compiled(_OWN_NUMBER).fullmatch(found[1])
    if own is not None:
        return int(own[1])
    counted = compiled(_OF_PYTHON).fullmatch(found[1])
    if counted is not None:
        ended = {int(number) for number in _ENDED.findall(view.block.data)}
        # where all end that were ever started, none of them was a helper
        return int(counted[1]) - 1 if len(ended) > 1 and ended == set(range(1, len(ended) + 1)) else None
    numbered = compiled(_NUMBERED).fullmatch(found[1])
    if numbered is None:
        return None
    first = re.escape(f"{numbered[1]}0".encode()) + rb"\b"
    return int(numbered[2]) if re.search(first, view.block.data) else None


def writers_line_above(view: BlockLines, line: Line) -> Line | None:
    """The last line that the writer of ``line`` wrote before it; others' lines may stand between."""
    near = islice(view.preceding(line), CLOSE + 1)
    return next((above for above in near if above.prefix.stream == line.prefix.stream), None)


def said_above(view: BlockLines, found: Traceback, line: Line) -> bool:
    """Whether the program had said in a line of its own, right above a traceback, what was raised: who can say so holds it."""
    name = (found.exception_type or "").rpartition(".")[2]
    said = (found.message or "").partition("\n")[0][:_QUOTED_PART].strip()
    above = writers_line_above(view, line)
    if not name or len(said) < _QUOTED_LEAST or above is None or compiled(_ENDS_ONE).match(above.message):
        return False
    return said in above.message and name in above.message


_ENDS_ONE = r"\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b"
"""How the last line of another traceback begins."""
_QUOTED_PART, _QUOTED_LEAST = 60, 8
"""Characters of an exception's message that are compared, and how few tell nothing."""


_NCCL_ERROR = "NCCL error:"
_ITS_NAME = r"nccl[A-Z]\w{3,40}Error: "
_ITS_LAST = "Last error:"


def explained(view: BlockLines, line: Line) -> Prefix | None:
    """The prefix of the record of torch's watchdog in which ``line`` tells of an NCCL error: none but its first line has the rank.

    What stands below the record at once is its own; where others' lines come between, nothing tells whose it is.
    Below the names of NCCL's errors goes on what follows ``Last error:``, and nothing else.
    """
    if line.prefix.rank is not None or line.prefix.stamped:
        return None
    below = line.message
    for above in islice(view.preceding(line), CLOSE):
        if above.prefix.rank is not None and above.prefix.stamped:
            known = _NCCL_ERROR in above.message and Continuation(above.prefix).takes(line.prefix)
            return above.prefix if known else None
        if not _goes_on(above.message, below):
            return None
        below = above.message
    return None


def _goes_on(above: str, below: str) -> bool:
    """Whether ``below`` is the next line of NCCL's error: names are followed by names, ``Last error:`` by any words."""
    if above.strip() == _ITS_LAST:
        return True
    names = compiled(_ITS_NAME)
    return names.match(above) is not None and (below.strip() == _ITS_LAST or names.match(below) is not None)


def alarmed(line: Line) -> bool:
    """Whether a logger's line announces what went wrong."""
    return line.prefix.level in {"error", "fatal"} or compiled(_ALARM).search(line.message) is not None
