"""Lines of a block, and the records that they make up.

A record is the line that was hit plus what the same writer wrote as its continuation: programs wrap
long messages, and in a merged log the lines of 512 ranks interleave, so continuation goes by writer
and not by adjacency.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from triage.model import Block, Leads, Prefix
from triage.scan.prefix import Continuation
from triage.scan.writers.leads import NONE, split

MAX_LINE = 8 * 1024
"""Characters of one line that are looked at, around the hit."""
CONTINUATION = 10
"""Unstamped lines that a record may go on for when its rule does not say."""
BRIEF = 2
"""The same for facts that many lines carry."""
_LOOK_BACK = 6
"""Lines that are looked at in search of the one that a wrapped message began on."""
_SKIP = 400
"""Lines of other writers that are passed over in search of a continuation."""


@dataclass(slots=True, eq=False, repr=False)
class Line:
    """One line: its byte range in the block, prefix and message."""

    start: int
    end: int
    prefix: Prefix
    message: str
    raw: str


class BlockLines:
    """Access to the lines of one block by byte position, parsed at most once each."""

    def __init__(self, block: Block, leads: Leads = NONE) -> None:
        self.block = block
        self._leads = leads
        self._lines: dict[int, Line] = {}
        self._numbers: tuple[int, int] = (0, block.line)
        self._next: dict[int, Line] = {}
        self._previous: dict[int, Line] = {}
        self.records: dict[tuple[int, int, int, int, int], Record] = {}
        """Records that were put together already: many rules look at the same line."""

    def bounds(self, position: int) -> tuple[int, int]:
        """The byte range of the line around ``position``; ``\\r`` ends a line as well."""
        data = self.block.data
        low = max(0, position - MAX_LINE // 2)
        start = max(data.rfind(b"\n", low, position), data.rfind(b"\r", low, position)) + 1
        return (start or low), self._end(position)

    def _end(self, position: int) -> int:
        data = self.block.data
        high = min(len(data), position + MAX_LINE)
        end = data.find(b"\n", position, high)
        end = high if end < 0 else end
        bar = data.find(b"\r", position, end)
        return bar if bar >= 0 else end

    def line_at(self, position: int) -> Line:
        """The line that the byte at ``position`` is in."""
        start, end = self.bounds(position)
        line = self._lines.get(start)
        if line is None or line.end != end:
            raw = self.block.data[start:end].decode("utf-8", "replace")
            prefix, message = split(self._leads, raw)
            line = Line(start, end, prefix, message, raw)
            self._lines[start] = line
        return line

    def after(self, line: Line) -> Iterator[Line]:
        """The lines that follow, up to the end of what the block holds."""
        data = self.block.data
        while True:
            known = self._next.get(line.end)
            if known is not None:
                line = known
                yield line
                continue
            position = end = line.end
            while position < len(data) and data[position] in b"\r\n":
                position += 1
            if position >= len(data):
                return
            line = self.line_at(position)
            if line.end > end:
                self._next[end] = line
            yield line
            if line.end <= position:
                return  # nothing more to move on to

    def preceding(self, line: Line) -> Iterator[Line]:
        """The lines before, nearest first."""
        data = self.block.data
        while line.start > 1:
            known = self._previous.get(line.start)
            if known is not None:
                line = known
                yield line
                continue
            start = line.start
            position = start - 1
            while position >= 0 and data[position] in b"\r\n":
                position -= 1
            if position < 0:
                return
            line = self.line_at(position)
            if line.start >= start:
                return
            self._previous[start] = line
            yield line

    def number(self, position: int) -> int:
        """The line number, from 1, of the byte at ``position``."""
        known, line = self._numbers
        data = self.block.data
        if position >= known:
            line += data.count(b"\n", known, position)
        else:
            line = self.block.line + data.count(b"\n", 0, position)
        self._numbers = (position, line)
        return line


@dataclass(eq=False, repr=False)
class Record:
    """A hit line with its neighbours of the same writer, as one text.

    ``text`` joins the messages with line feeds; ``anchor`` is the range of the hit line in it.
    """

    lines: tuple[Line, ...]
    index: int
    """Which of ``lines`` is the hit line."""
    text: str
    anchor: tuple[int, int]

    @cached_property
    def folded(self) -> str:
        """The text in lower case, white space folded."""
        return " ".join(self.text.lower().split())

    @property
    def line(self) -> Line:
        """The line that was hit."""
        return self.lines[self.index]

    def line_of(self, position: int) -> int:
        """Index of the line that the character at ``position`` of the text is in."""
        end = -1
        for i, line in enumerate(self.lines):
            end += len(line.message) + 1
            if position <= end:
                return i
        return len(self.lines) - 1


def record_at(
    view: BlockLines, line: Line, *, before: int = 0, after: int = 0, most: int = CONTINUATION
) -> Record:
    """The record around ``line``: wrapped predecessors, and continuations by the same writer.

    ``after`` asks for that many further lines of the writer even when they start new records; ``most`` are
    the continuations that are looked for without being asked.
    """
    key = (line.start, line.end, before, after, most)
    known = view.records.get(key)
    if known is None:
        known = view.records[key] = _assembled(view, line, before, after, most)
    return known


def _assembled(view: BlockLines, line: Line, before: int, after: int, most: int) -> Record:
    head = list(reversed(list(_preceding(view, line, before)))) if before else []
    tail: list[Line] = []
    continuation = Continuation(line.prefix)
    skipped = 0
    for following in view.after(line):
        belongs = continuation.takes(following.prefix)
        if belongs is None and len(tail) < after:
            continuation = Continuation(following.prefix)  # the writer's next record
        elif belongs is None:
            break
        elif not belongs:
            skipped += 1
            if skipped > _SKIP:
                break
            continue
        tail.append(following)
        if len(tail) >= max(most, after):
            break
    lines = (*head, line, *tail)
    messages = [part.message for part in lines]
    begin = sum(len(m) + 1 for m in messages[: len(head)])
    return Record(lines, len(head), "\n".join(messages), (begin, begin + len(line.message)))


def _preceding(view: BlockLines, line: Line, count: int) -> Iterator[Line]:
    """The nearest earlier lines that ``line`` may be a continuation of."""
    for skipped, previous in enumerate(view.preceding(line)):
        if skipped >= _LOOK_BACK or count <= 0:
            return
        if Continuation(previous.prefix).takes(line.prefix):
            count -= 1
            yield previous
