"""The ordinary lines of programs, without what Python, NCCL and launchers print by themselves."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from triage.model import Block, Evidence, Finding, Prefix, Source, Value
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line
from triage.scan.writers.leads import leads_of, split
from triage.text import safe

WINDOW = 48 << 10
"""Bytes that are looked at, at the beginning of a source and before its first sign of trouble."""
_LOOKED_AT = 8
"""Lines that are looked at for each that is wanted, where stacks and tables stand in between."""
_LEAST, _FEW = 6 << 10, 16
"""Bytes of a source that are looked at in any case, and sources of which the whole window is."""
_LONG = 600
"""Bytes of a line that are looked at."""
_LONGEST = 2000
"""The same where all of it may tell."""
NUMBER = r"0x[0-9a-fA-F]+|(?<![\w.])[-+]?\d[\d.,:e+-]*"
WORD = r"[^\W\d_]{2,}"
_VARYING = r"0x[0-9a-fA-F]+|[-+]?\d[\d.,:e+-]*|(?<![a-z])(?:nan|inf)(?![a-z])[,:]?"
SELF = (
    r"\W{0,2}(?:[Rr]ank|RANK)[ :=#\[(]{0,2}(\d{1,5})\b|[^\[\n]{0,80}\[(?:[Rr]ank|RANK)[ :=]{0,2}(\d{1,5})\]"
)
"""How programs begin a line of which they say whose it is."""
_CODE = (
    r"\s{2,}|File \"|frame #|#\d+ {1,3}(?:0x|\S+ from /|[\w:~]+ ?\((?:[\w ]+=|\)))|Exception raised from|Traceback"
    r"|Thread 0x|NCCL (?:INFO|version)|NET/|nccl[A-Z]|Last error|"
    r"The above exception was the direct cause|During handling of the above exception|For more information check: http"
    r"|Setting OMP_NUM_THREADS environment variable for each process|"
    r"\[c10d\]|\[[IWEF]\d{4} |terminate called|[*=+-]{5,}|Timeout \(\d|"
    r"(?:rc|exit(?:[ _](?:code|status))?|status)[ =:]{1,3}-?\d{1,5}\s*$|"
    r"[^\n]{0,120}\d{1,3}%\||(?:\w+\.)*\w+(?:Error|Exception)\b|warnings\.warn|[^\n]{0,200}Warning: "
)
"""What is no statement of the program's: code, stacks, bars, tables, what Python and NCCL print by themselves."""


_OF_LIBRARIES = r"\.(?:cpp|cc|cu|py):\d+\]|\[(?:PG |Rank )|NCCL|collective|[Ww]atchdog|torch[/.]"
"""What torch and NCCL report as errors, which others say as well."""
_TELLING = r"[^\W\d]\W{0,3}\Z"
"""A word, or a letter, right before the number of a writer: a number alone may come again for whatever reason."""
_DIGITS = str.maketrans("", "", "0123456789")
_Row = tuple[int, int, bytes]
"""Position, number and bytes of a line."""


@dataclass(slots=True, eq=False, repr=False)
class Said:
    """One line of a program."""

    source: int
    number: int
    offset: int
    text: str
    prefix: Prefix
    message: str
    wording: str
    """The message without its numbers: lines of one wording come from one statement."""
    writer: str | None
    """Who it is from, where something tells: a rank, a file of its own, a stream."""


def without_digits(line: str) -> str:
    """A line without its numbers, so that repetitions look alike."""
    return line.translate(_DIGITS)


def lines_at_the_end(
    block: Block, source: Source, index: int, until: int | None, most: int
) -> Iterator[Said]:
    """The last ``most`` lines before ``until``, or the end."""
    data = block.data
    end = len(data) if until is None else max(0, min(len(data), until - block.offset))
    start = max(0, end - WINDOW)
    start = data.find(b"\n", start, end) + 1 if start else 0
    for row in [row for row in _rows(block, start, end) if row[2].strip()][-most:]:
        line = _said(block, source, index, row)
        if line is not None:
            yield line


def lines_afterwards(
    block: Block, source: Source, index: int, until: int | None, most: int
) -> Iterator[Said]:
    """The first ``most`` lines behind ``until``, where trouble began, of writers whose names lead their lines.

    Others met it before them, and what a program had printed into a buffer comes when it ends.
    """
    if until is None or until <= block.offset:
        return
    start = until - block.offset
    rows = _rows(block, start, min(len(block.data), start + WINDOW))
    for row in islice(rows, _LOOKED_AT * most):
        line = _said(block, source, index, row) if row[2].strip() else None
        if line is not None and line.prefix.stream:
            yield line
            most -= 1
            if most <= 0:
                return


def lines_at_the_start(
    block: Block, source: Source, index: int, until: int | None, most: int
) -> Iterator[Said]:
    """The first ``most`` lines of a source whose beginning is known, no further than ``until``."""
    if block.offset:
        return
    end = min(len(block.data), WINDOW if until is None else min(WINDOW, until))
    for row in _rows(block, 0, end):
        line = _said(block, source, index, row) if row[2].strip() else None
        if line is not None:
            yield line
            most -= 1
            if most <= 0:
                return


def share(in_all: int, among: int, least: int, most: int) -> int:
    """How many lines each of several sources is looked at for, where so many are looked at in all."""
    return max(least, min(most, in_all // max(1, among)))


class Wanted(NamedTuple):
    """The lines that somebody looks for about the time when trouble began: what is in them, and how many at most."""

    like: re.Pattern[bytes]
    in_all: int
    least: int
    most: int


def lines_around(
    tails: Mapping[int, Block], sources: Sequence[Source], until: Mapping[int, int], wanted: Sequence[Wanted]
) -> list[list[Said]]:
    """For each of ``wanted`` the last such lines before trouble began in each source, at ``until``, and the first after it.

    Where none began it is the last ones of the source.
    """
    found: list[list[Said]] = [[] for _ in wanted]
    for index, block in sorted(tails.items()):
        place = until.get(index, block.offset + len(block.data)) - block.offset
        start = max(0, place - WINDOW)
        start = block.data.find(b"\n", start) + 1 if start else 0
        rows = list(_rows(block, start, min(len(block.data), max(start, place + WINDOW))))
        middle = bisect_left(rows, place, key=itemgetter(0))
        for said, what in zip(found, wanted, strict=True):
            most, like = share(what.in_all, len(tails), what.least, what.most), what.like.search
            before = islice((row for row in reversed(rows[:middle]) if like(row[2])), most)
            after = islice((row for row in rows[middle:] if like(row[2])), most)
            for row in [*reversed([*before]), *after]:
                line = _said(block, sources[index], index, row, indented=True)
                if line is not None:
                    said.append(line)
    return found


def any_line(block: Block, source: Source, index: int, start: int = 0) -> Iterator[Said]:
    """All lines of a block from the byte ``start`` of its data on, whatever they are."""
    for at, number, raw in _rows(block, start, len(block.data)):
        text, prefix, message = _heard(block, at, raw)
        yield Said(
            index, number, block.offset + at, text, prefix, message, "", writer_of(prefix, source, message)
        )


def window_of(sources: int) -> int:
    """Bytes at the end of each of so many sources that are looked at, where all of them must be."""
    return max(_LEAST, WINDOW * _FEW // max(_FEW, sources))


def whole_lines(block: Block, source: Source, index: int, size: int = WINDOW) -> Iterator[Said]:
    """The whole lines in the last ``size`` bytes of a log, whatever they are; of what was drawn over, the last state."""
    start = max(0, len(block.data) - size)
    start = block.data.find(b"\n", start) + 1 if start else 0
    leads = leads_of(block)
    for at, number, raw in _rows(block, start, len(block.data)):
        drawn = raw.rstrip(b"\r").rpartition(b"\r")[2]
        if drawn.strip():
            text = drawn[:_LONGEST].decode("utf-8", "replace")
            prefix, message = split(leads, text)
            yield Said(
                index,
                number,
                block.offset + at,
                text,
                prefix,
                message,
                "",
                writer_of(prefix, source, message),
            )


def _rows(block: Block, start: int, end: int) -> Iterator[_Row]:
    """The lines of a stretch of a block."""
    number = block.line + block.data.count(b"\n", 0, start)
    for raw in block.data[start:end].split(b"\n"):
        yield start, number, raw
        start += len(raw) + 1
        number += 1


def _heard(block: Block, at: int, raw: bytes) -> tuple[str, Prefix, str]:
    """The text, prefix and message of a line, which several ask for one after the other."""
    place = block.offset + at
    known = block.heard.get(place)
    if known is None:
        text = raw[:_LONG].decode("utf-8", "replace")
        known = block.heard[place] = text, *split(leads_of(block), text)
    return known


def _said(block: Block, source: Source, index: int, row: _Row, *, indented: bool = False) -> Said | None:
    """The line of a program that a row is, None where it is something else; code is indented, as counts may be."""
    at, number, raw = row
    key = block.offset + at, indented
    if key not in block.worded:
        block.worded[key] = _worded(block, at, raw, indented=indented)
    wording = block.worded[key]
    if wording is None:
        return None
    text, prefix, message = _heard(block, at, raw)
    return Said(
        index, number, block.offset + at, text, prefix, message, wording, writer_of(prefix, source, message)
    )


def _worded(block: Block, at: int, raw: bytes, *, indented: bool) -> str | None:
    """How a line is worded, None where it is no statement of a program's."""
    if b"NCCL INFO" in raw[:160] or b"NCCL WARN" in raw[:160]:
        return None
    text, prefix, message = _heard(block, at, raw)
    if not is_statement(text, prefix, message.lstrip(" ") if indented else message):
        return None
    if prefix.logger is not None and compiled(_OF_AGENTS).search(prefix.logger) is not None:
        return None
    mark = leads_of(block).mark
    own = None if mark is None else mark.match(text)
    if mark is not None and own is not None and compiled(_TELLING).search(text, 0, own.start(1)):
        behind = text[own.end() : own.end() + 1]
        if any(text[again.end() : again.end() + 1] == behind for again in mark.finditer(text, own.end())):
            return None  # two processes wrote it at once
    return " ".join(compiled(_VARYING).sub("#", message.lower()).split())[:120]


def is_statement(text: str, prefix: Prefix, message: str) -> bool:
    """Whether a line is a program's own statement, not what Python, NCCL and launchers print by themselves."""
    return (
        prefix.level != "fatal"
        and not (prefix.level == "error" and compiled(_OF_LIBRARIES).search(text[: prefix.length + 80]))
        and not compiled(_CODE).match(message)
        and compiled(WORD).search(message) is not None
    )


def tells(text: str, prefix: Prefix, message: str) -> bool:
    """Whether a line is a statement that tells something of the work: neither a launcher's nor the head of a stack or table."""
    return (
        is_statement(text, prefix, message)
        and compiled(_OF_AGENTS).search(prefix.logger or "") is None
        and compiled(_HEADS).match(message) is None
    )


def is_head(text: str) -> bool:
    """Whether a line is nothing but the head of a stack or of a launcher's table."""
    return compiled(_HEADS).match(split_line(text)[1]) is not None


_OF_AGENTS = r"distributed[/.](?:(?:elastic|launcher)[/.]|run(?:\.py)?(?::|\Z))"
"""Loggers of what starts ranks, and is none of them."""
_HEADS = (
    r"(?:Current thread 0x|Stack \(most recent|Extension modules: |<omitting |Root Cause \(first|\S+ FAILED$"
    r"|(?:Other )?Failures:\s*$)"
)


def writer_of(prefix: Prefix, source: Source, message: str) -> str | None:
    """Who wrote a line: the rank that it says, or its source, else a stream of the source; None without a name."""
    rank = prefix.rank if prefix.rank is not None else source.rank
    if rank is not None:
        return str(rank)
    own = compiled(SELF).match(message)
    if own is not None:
        return str(int(own[1] or own[2]))
    name = prefix.stream or ("" if prefix.pid is None else f"pid {prefix.pid}")
    return f"{source.path or source.name} {name}" if name else None


def finding_of(
    rule: str, said: Said, sources: Sequence[Source], fields: Mapping[str, Value], *, last: Said | None = None
) -> Finding:
    """What a line of a program's tells as the fact ``rule``; with ``last``, from there to another of its lines."""
    source, prefix = sources[said.source], said.prefix
    rank = prefix.rank if prefix.rank is not None else source.rank
    if rank is None and said.writer is not None and said.writer.isdecimal():
        rank = int(said.writer)
    lines = [said] if last is None else [said, last]
    return Finding(
        rule_id=rule, fields=fields,
        evidence=tuple(Evidence(source.name, line.number, safe(line.text)) for line in lines),
        source=said.source, offset=said.offset, rank=rank,
        local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
        host=prefix.host or source.host, pid=prefix.pid, time=prefix.time, level=prefix.level, stream=prefix.stream,
        last_offset=None if last is None else last.offset, last_time=None if last is None else last.prefix.time,
    )  # fmt: skip
