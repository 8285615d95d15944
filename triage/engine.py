"""The chain from paths to a diagnosis: discover, read, scan, diagnose.

Everything else (the command line, hooks, services) is a thin caller of :class:`Engine`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from triage.diagnosis import Run
from triage.diagnosis import diagnose as judge
from triage.errors import InputError, UsageError
from triage.model import Block, Diagnosis, Finding, Reading, Source, SourceReport
from triage.rules.loader import RuleSet, load_rules
from triage.scan.ends import Ends
from triage.scan.scanner import Scanner
from triage.scan.tail import intelligible, last_signs_of_life
from triage.sources import BlockReader, discover
from triage.sources.given import BYTES_PER_SECOND, Input, arguments_of

if TYPE_CHECKING:
    from triage.receipts import ReceiptInput

EMBEDDED = 64 << 10
"""Bytes at both ends of a log in which pasted command output is looked for."""
_BINARY = frozenset({"flight-recorder", "elastic-error"})
MAX_STRUCTURED = 64 << 20
"""Bytes of one structured input (a dump, a topology, an accounting table) that are read."""


@dataclass(slots=True)
class _Read:
    """What reading the sources gave, before it is judged."""

    sources: Sequence[Source]
    findings: list[Finding] = field(default_factory=list)
    reports: dict[int, SourceReport] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tails: dict[int, Block] = field(default_factory=dict)
    read: int = 0
    deadline: float | None = None

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and time.monotonic() > self.deadline


class Engine:
    """Rules compiled once, to diagnose many jobs with; safe to share between threads.

    Args:
        rules: directories with rules of your own, which are added to the built-in ones and win by id,
            or a loaded :class:`~triage.rules.loader.RuleSet`.
        threads: threads that scan; the result does not depend on their number.

    Raises:
        RuleError: when a rule file is wrong.
    """

    def __init__(self, rules: RuleSet | Iterable[str | os.PathLike[str]] = (), *, threads: int = 2) -> None:
        self.rules = rules if isinstance(rules, RuleSet) else load_rules(rules)
        self._scanner = Scanner(self.rules, threads)

    def diagnose(
        self,
        inputs: Input | Iterable[Input],
        *,
        receipt: ReceiptInput | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Diagnosis:
        """The diagnosis of one job from everything that it left behind.

        Args:
            inputs: paths, globs, ``-`` for standard input, bytes, open streams, or sources; all are one
                job. A text goes through :func:`triage.text_source`. May be empty with a receipt.
            receipt: the run's compact record: a mapping, the path of a JSON file, or an object.
            budget: bytes to read at most, over all sources; what lies beyond is noted.
            seconds: time to read for. It is spent as ``BYTES_PER_SECOND`` bytes a second, so that the
                same input is cut at the same place everywhere; where reading is slower than that, it
                stops between two blocks when the time is up, and a note says how much was read.
            progress: called with the number of bytes of each stretch that has been read.

        Raises:
            InputError: when none of the inputs can be read.
            ReceiptError: when the receipt is none.
            UsageError: when an input is of a type that can't be read, or a budget is negative.
        """
        arguments = arguments_of(inputs)
        if not arguments and receipt is not None:
            return self.diagnose_sources(
                (), receipt=receipt, budget=budget, seconds=seconds, progress=progress
            )
        discovery = discover(arguments)
        return self.diagnose_sources(
            discovery.sources, receipt=receipt, budget=budget, seconds=seconds, progress=progress,
            notes=discovery.notes,
        )  # fmt: skip

    def diagnose_sources(
        self,
        sources: Sequence[Source],
        *,
        receipt: ReceiptInput | None = None,
        budget: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int], None] | None = None,
        notes: Sequence[str] = (),
    ) -> Diagnosis:
        """As :meth:`diagnose`, for sources that have been discovered already."""
        if (budget is not None and budget < 0) or (seconds is not None and not seconds >= 0):
            raise UsageError("a budget can't be negative")
        record: dict[str, Any] | None = None
        if receipt is not None:
            from triage.receipts import load_receipt
            from triage.receipts.evidence import sources_of

            record = load_receipt(receipt)
            sources = (*sources, *sources_of(record))
        state = _Read(sources, notes=list(notes))
        if seconds is not None and seconds < 1e9:
            state.deadline = time.monotonic() + seconds
            budget = min(int(seconds * BYTES_PER_SECOND), 1 << 62 if budget is None else budget)
        collectors = self._scanner.scan(self._blocks(state, budget, progress), progress)
        for index in sorted(collectors):
            state.findings.extend(collectors[index].findings())
            tail = collectors[index].tail
            if index in state.tails and tail is not None:
                state.tails[index] = tail  # now its line numbers are known
                state.reports[index] = replace(state.reports[index], lines=collectors[index].lines)
                state.findings.extend(last_signs_of_life(tail, sources[index], index))
                state.findings.extend(_embedded_at_the_end(tail, sources[index], index))
        state.findings.extend(_combined(state.readings))
        run = Run(
            rules=self.rules,
            sources=sources,
            findings=state.findings,
            reports=[state.reports[i] for i in sorted(state.reports)],
            receipt=record,
            notes=[*self.rules.notes, *state.notes],
            ends=Ends(state.tails, sources, state.findings, self.rules),
        )
        return judge(run)

    def findings(self, source: Source) -> tuple[Finding, ...]:
        """What the scan finds in one log, before it is judged."""
        state = _Read([source])
        collectors = self._scanner.scan(self._blocks(state, None, None))
        return tuple(f for i in sorted(collectors) for f in collectors[i].findings())

    def _blocks(
        self, state: _Read, budget: int | None, progress: Callable[[int], None] | None
    ) -> Iterator[tuple[int, Source, Block]]:
        """The blocks of all logs; structured inputs are read whole by their readers on the way."""
        from triage.readers import recognise
        from triage.readers.embedded import findings_in as embedded_in

        for index, source in enumerate(state.sources):
            left = None if budget is None else max(0, budget - state.read)
            if state.late:
                left = 0
            with BlockReader(source, limit=left, counting=False) as reader:
                try:
                    kind = recognise(source.name, reader.head)
                except InputError as error:
                    state.reports[index] = _report(
                        source, "unreadable", reader, complete=False, note=str(error)
                    )
                    state.notes.append(f"{source.name}: {error}")
                    continue
                if kind is not None:
                    data = reader.read(MAX_STRUCTURED)
                    reading = kind.read(data, source, index)
                    state.readings.append(reading)
                    state.findings.extend(reading.findings)
                    state.notes.extend(f"{source.name}: {note}" for note in reading.notes)
                    state.reports[index] = _report(source, reading.kind, reader, complete=reading.complete)
                    if progress is not None:
                        progress(len(data))
                    quoted: str = getattr(reading, "text", "")
                    if reading.kind not in _BINARY and data:
                        # kernel lines often stand beside the output that the reader knows
                        yield index, source, Block(data, 0, 1, 0, len(data), True)
                    elif quoted:
                        # an error file quotes what the process would have printed, on one line of the
                        # file: carriage returns end lines for the scan and are not counted
                        text = quoted.replace("\n", "\r").encode()
                        yield index, source, Block(text, 0, 1, 0, len(text), True)
                else:
                    tail: Block | None = None
                    for block in reader:
                        if tail is None:
                            piece = block.data[:EMBEDDED]
                            state.findings.extend(embedded_in(piece[: piece.rfind(b"\n") + 1], source, index))
                        tail = block
                        yield index, source, block
                        if state.late and not block.last:
                            state.notes.append(f"{source.name}: time ran out after {reader.bytes_read} bytes")
                            break
                    kind_of_text = "empty"
                    if tail is not None:
                        state.tails[index] = tail
                        kind_of_text = "log" if intelligible(tail) else "unintelligible"
                    state.reports[index] = _report(source, kind_of_text, reader)
                state.read += reader.bytes_read
                if reader.note:
                    state.notes.append(f"{source.name}: {reader.note}")


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


def _combined(readings: Sequence[Reading]) -> tuple[Finding, ...]:
    """Findings that need several readings at once: dumps of all ranks, stacks of all processes."""
    found: list[Finding] = []
    kinds = {r.kind for r in readings}
    if "flight-recorder" in kinds:
        from triage.readers.flight_recorder import combine as combine_dumps

        found.extend(combine_dumps(readings))
    if "pyspy" in kinds:
        from triage.readers.pyspy import combine as combine_stacks

        found.extend(combine_stacks(readings))
    return tuple(found)


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


def diagnose(
    inputs: Input | Iterable[Input],
    *,
    receipt: ReceiptInput | None = None,
    rules: RuleSet | Iterable[str | os.PathLike[str]] = (),
    budget: int | None = None,
    seconds: float | None = None,
) -> Diagnosis:
    """Diagnose one job with a fresh :class:`Engine`; see :meth:`Engine.diagnose`."""
    return Engine(rules).diagnose(inputs, receipt=receipt, budget=budget, seconds=seconds)
