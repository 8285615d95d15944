"""Reading one source, or a stretch of a large one. What comes of it can go from process to process."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from triage.errors import InputError
from triage.model import Block, Finding, Reading, Source, SourceReport
from triage.scan.closing.alive import last_signs_of_life
from triage.scan.closing.tail import intelligible
from triage.scan.collect import Collector
from triage.scan.ordinary.completion import completion
from triage.scan.ordinary.status import BADLY, closing_status
from triage.scan.scanner import Scanner
from triage.scan.writers.leads import leads_of
from triage.sources import BLOCK_SIZE, CONTEXT, BlockReader
from triage.sources.constants import TAIL_SIZE

SHARD = 64 * BLOCK_SIZE
"""Bytes of a large file that are scanned in one go, on their own."""
EMBEDDED = 64 << 10
"""Bytes at both ends of a log in which pasted command output is looked for."""
MAX_STRUCTURED = 64 << 20
"""Bytes of one structured input (a dump, a topology, an accounting table) that are read."""
_PROGRAMS = frozenset({"nccl-tests", "p2p"})
"""Kinds of output that a test program prints, with what the script around it says."""
_BINARY = frozenset({"flight-recorder", "elastic-error"})

Span = tuple[int, int | None]
WHOLE: Span = (0, None)


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """What came of reading one source or a stretch of it."""

    report: SourceReport
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    collector: Collector | None = None
    """What a scan found, until all of the source has been read."""
    reading: Reading | None = None
    tail: Block | None = None
    """The end of a log, when all of it has been read; None for what a reader knows."""

    def found(self) -> list[Finding]:
        """All findings, those of the scan first."""
        return self.findings if self.collector is None else [*self.collector.findings(), *self.findings]

    def extend(self, later: Part) -> None:
        """Add what came of the next stretch of the same source."""
        if self.collector is not None and later.collector is not None:
            self.collector.extend(later.collector)
        mine, other = self.report, later.report
        self.report = mine._replace(
            bytes_read=mine.bytes_read + other.bytes_read,
            complete=mine.complete and other.complete,
            note=mine.note or other.note,
        )
        self.notes += [note for note in later.notes if note not in self.notes]


def spans(source: Source) -> list[Span]:
    """The stretches that ``source`` is read in: several only for a large log that can be read by position."""
    size = _plain_size(source)
    if size < 2 * SHARD:
        return [WHOLE]
    # a region takes in what little lies behind it: no stretch begins there
    starts = list(range(0, size - CONTEXT + 1, SHARD))
    return list(zip(starts, [*starts[1:], None], strict=True))


def _plain_size(source: Source) -> int:
    """Bytes of a large log that is a plain file; 0 for everything else."""
    if source.path is None or source.data is not None:
        return 0
    try:
        status = os.stat(source.path)
    except (OSError, ValueError):
        return 0
    if not stat.S_ISREG(status.st_mode) or status.st_size < 2 * SHARD:
        return 0
    from triage.readers import recognise

    with BlockReader(source, counting=False) as reader:
        size = reader.plain_size
        return 0 if size is None or recognise(source.name, reader.head) is not None else size


def read_part(
    scanner: Scanner,
    source: Source,
    index: int,
    *,
    span: Span = WHOLE,
    limit: int | None = None,
    deadline: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Part:
    """Read ``source``, or ``span`` of it.

    Args:
        index: what findings call the source.
        limit: position in the source at which to stop.
        deadline: the time (of :func:`time.monotonic`) at which to stop between two blocks.
        progress: called with the number of bytes of each stretch that has been read.
    """
    from triage.readers import recognise

    with BlockReader(source, limit=limit, counting=False, span=span) as reader:
        try:
            kind = recognise(source.name, reader.head) if span[0] == 0 else None
        except InputError as error:
            report = _report(source, "unreadable", reader, complete=False, note=str(error))
            return Part(report, [f"{source.name}: {error}"])
        if kind is None:
            return _log(scanner, source, index, span, reader, deadline, progress)
        data = reader.read(MAX_STRUCTURED)
        reading = kind.read(data, source, index)
        part = Part(
            _report(source, reading.kind, reader, complete=reading.complete),
            [f"{source.name}: {note}" for note in reading.notes],
            list(reading.findings),
            _beside(scanner, source, index, reading, data),
            reading,
        )
        if reading.kind in _PROGRAMS:
            # what the script around a test program says last counts for more than the program's own summary
            whole = Block(data, 0, 1, 0, len(data), True)
            part.findings.extend(f for f in closing_status(whole, source, index) if f.rule_id == BADLY)
        if progress is not None:
            progress(len(data))
        if reader.note:
            part.notes.append(f"{source.name}: {reader.note}")
        return part


def _beside(scanner: Scanner, source: Source, index: int, reading: Reading, data: bytes) -> Collector | None:
    """What stands beside the output that a reader knows, as kernel lines often do."""
    quoted: str = getattr(reading, "text", "")
    if reading.kind in _BINARY:
        # an error file quotes what the process would have printed, on one line of the file: carriage
        # returns end lines for the scan and are not counted
        data = quoted.replace("\n", "\r").encode()
    return scanner.scan(source, index, [Block(data, 0, 1, 0, len(data), True)]) if data else None


def _log(
    scanner: Scanner,
    source: Source,
    index: int,
    span: Span,
    reader: BlockReader,
    deadline: float | None,
    progress: Callable[[int], None] | None,
) -> Part:
    from triage.readers.embedded import findings_in as embedded_in

    found: list[Finding] = []
    notes: list[str] = []
    sample: Block | None = None

    def blocks() -> Iterator[Block]:
        nonlocal sample
        for block in reader:
            if block.offset == 0:
                piece = block.data[:EMBEDDED]
                found.extend(embedded_in(piece[: piece.rfind(b"\n") + 1], source, index))
            sample = block
            yield block
            if deadline is not None and time.monotonic() > deadline and not block.last:
                notes.append(f"{source.name}: time ran out after {reader.bytes_read} bytes")
                break

    collector = scanner.scan(source, index, blocks(), progress, whole=span == WHOLE)
    kind = "empty" if sample is None else "log" if intelligible(sample) else "unintelligible"
    if collector.tail is None and sample is not None and (notes or not reader.complete):
        collector.tail = replace(sample, line=1 + collector.lines - sample.data.count(b"\n", 0, sample.end))
    if collector.tail is not None:
        collector.tail = _end_of(collector.tail)
    if reader.note:
        notes.append(f"{source.name}: {reader.note}")
    part = Part(_report(source, kind, reader), notes, found, collector)
    if span == WHOLE:
        finish(part, source, index)
    return part


def finish(part: Part, source: Source, index: int) -> None:
    """Add what the end of a log says, and how many lines it has, when all of it has been read."""
    collector = part.collector
    if part.reading is not None or collector is None:
        return
    part.report = part.report._replace(lines=collector.lines - source.above)
    part.findings[:0] = collector.findings()  # here, where several processes share the work
    part.collector = None
    part.tail = collector.tail
    if collector.tail is not None:
        leads_of(collector.tail)
        part.findings.extend(last_signs_of_life(collector.tail, source, index))
        stated = list(closing_status(collector.tail, source, index))
        part.findings.extend(stated)
        if not any(finding.rule_id == BADLY for finding in stated):
            part.findings.extend(completion(collector.tail, source, index))
        part.findings.extend(_embedded_at_the_end(collector.tail, source, index))


def _end_of(block: Block) -> Block:
    """The end of a source's last block, all that is needed of it later."""
    surplus = len(block.data) - TAIL_SIZE
    if surplus <= 0:
        return block
    data = block.data[surplus:]
    line = block.line + block.data.count(b"\n", 0, surplus)
    return Block(data, block.offset + surplus, line, 0, len(data), True, block.leads)


def _embedded_at_the_end(tail: Block, source: Source, index: int) -> tuple[Finding, ...]:
    """Command output that was pasted behind a log; what the beginning held has been read already."""
    from triage.readers.embedded import findings_in

    start = max(0, len(tail.data) - EMBEDDED)
    if tail.offset == 0:
        start = max(start, min(EMBEDDED, len(tail.data)))
    start = tail.data.find(b"\n", max(0, start - 1)) + 1 if start else 0
    if start >= len(tail.data):
        return ()
    line = tail.line + tail.data.count(b"\n", 0, start)
    return findings_in(tail.data[start:], source, index, line, tail.offset + start)


def _report(
    source: Source, kind: str, reader: BlockReader, *, complete: bool = True, note: str | None = None
) -> SourceReport:
    return SourceReport(
        name=source.name,
        kind=kind,
        bytes_read=reader.bytes_read,
        lines=None,
        complete=complete and reader.complete,
        note=note or reader.note,
        rank=source.rank,
        host=source.host,
        attempt=source.attempt,
    )
