"""Lines out of the ordinary: what one writer said once, after the job had found its rhythm.

A rank that goes its own way seldom calls it an error. Among the lines that all ranks repeat, what only one
of them said is where to look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from triage.model import Block, Evidence, Finding, Moment, Prefix, Source
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line
from triage.text import safe

ODD = "progress.oddity"
LAST = "progress.last-line"
WINDOW = 48 << 10
"""Bytes before a source's first sign of trouble that are looked at."""
MAX_LINES = 240
"""Lines of them, fewer where there are many sources."""
MAX_LINES_IN_ALL = 12_000
ROUTINE = 3
"""Times that a wording is repeated by which it is known for routine."""
MIN_WORDS = 3
"""Words that a line has that says something."""
KEPT = 2
"""Lines that are kept of each writer: the last ones."""
NO_DIGITS = str.maketrans("", "", "0123456789")
_WORDING = r"0x[0-9a-fA-F]+|[-+]?\d[\d.,:e+-]*|(?<![a-z])(?:nan|inf)(?![a-z])"
_WORD = r"[^\W\d_]{2,}"
_CODE = (
    r"\s{2,}|File \"|frame #|#\d+ |Exception raised from|Traceback|Thread 0x|NCCL (?:INFO|version)|[*=+-]{5,}|Timeout \(\d|"
    r"[^\n]{0,120}\d{1,3}%\||(?:\w+\.)*\w+(?:Error|Exception)\b|warnings\.warn|[^\n]{0,200}Warning: "
)
"""What is no statement of the program's: code, stacks, bars, tables, what Python and NCCL print by themselves."""


@dataclass(slots=True, eq=False, repr=False)
class _Said:
    source: int
    number: int
    offset: int
    text: str
    prefix: Prefix
    wording: str


def oddities(
    tails: Mapping[int, Block],
    sources: Sequence[Source],
    until: Mapping[int, int],
    harmless: Container[str],
) -> list[Finding]:
    """The last lines of each writer that nobody else said, of those after routine had begun, and its last line.

    Args:
        tails: the last block of each log, by the index of its source.
        until: offset in each source at which trouble began; its end where there is none.
        harmless: lines that are known to mean nothing, without their digits.
    """
    most = max(20, min(MAX_LINES, MAX_LINES_IN_ALL // max(1, len(tails))))
    said = [
        line
        for index, block in sorted(tails.items())
        for line in _lines(block, sources[index], index, until.get(index), most)
    ]
    times = Counter(line.wording for line in said)
    routine = {wording for wording, count in times.items() if count >= ROUTINE}
    began: dict[int, int] = {}
    clock: dict[str, float] = {}
    for line in said:
        if line.wording in routine:
            began.setdefault(line.source, line.offset)
            time = line.prefix.time
            if time is not None:
                clock[time.clock] = min(clock.get(time.clock, time.seconds), time.seconds)
    found: dict[tuple[int, str], list[_Said]] = {}
    last: dict[tuple[int, str], _Said] = {}
    for line in said:
        if line.text.translate(NO_DIGITS) in harmless:
            continue
        last[line.source, line.prefix.stream] = line
        if times[line.wording] > 1 or len(compiled(_WORD).findall(line.wording)) < MIN_WORDS:
            continue
        if began.get(line.source, 1 << 62) < line.offset or _later(line.prefix.time, clock):
            found.setdefault((line.source, line.prefix.stream), []).append(line)
    odd = [line for lines in found.values() for line in lines[-KEPT:]]
    known = {(line.source, line.offset) for line in odd}
    usual = [line for line in last.values() if (line.source, line.offset) not in known]
    return [_finding(line, sources, ODD) for line in odd] + [_finding(line, sources, LAST) for line in usual]


def _later(time: Moment | None, clock: Mapping[str, float]) -> bool:
    return time is not None and time.clock in clock and time.seconds >= clock[time.clock]


def _lines(block: Block, source: Source, index: int, until: int | None, most: int) -> Iterator[_Said]:
    data = block.data
    end = len(data) if until is None else max(0, min(len(data), until - block.offset))
    start = max(0, end - WINDOW)
    start = data.find(b"\n", start, end) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    offset = block.offset + start
    rows: list[tuple[int, int, bytes]] = []
    for raw in data[start:end].split(b"\n"):
        rows.append((number, offset, raw))
        number += 1
        offset += len(raw) + 1
    for number, offset, raw in [row for row in rows if row[2].strip()][-most:]:
        text = raw[:600].decode("utf-8", "replace")
        prefix, message = split_line(text)
        if prefix.level in {"error", "fatal"} or compiled(_CODE).match(message):
            continue
        wording = " ".join(compiled(_WORDING).sub("#", message.lower()).split())[:120]
        if compiled(_WORD).search(message):
            yield _Said(index, number, offset, text, prefix, wording)


def _finding(line: _Said, sources: Sequence[Source], rule: str) -> Finding:
    source, prefix = sources[line.source], line.prefix
    return Finding(
        rule_id=rule, fields={"words": " ".join(line.text[prefix.length :].split())[:200]},
        evidence=(Evidence(source.name, line.number, safe(line.text)),), source=line.source, offset=line.offset,
        rank=prefix.rank if prefix.rank is not None else source.rank,
        local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
        host=prefix.host or source.host, pid=prefix.pid, time=prefix.time, level=prefix.level, stream=prefix.stream,
    )  # fmt: skip
