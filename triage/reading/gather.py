"""Reading all sources of a job, in several processes where that is worth it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.model import Block, Finding, Reading, Source, SourceReport
from triage.reading.part import Part, Span, finish, read_part, spans
from triage.scan.scanner import Scanner

WORTHWHILE = 64 << 20
"""Bytes below which one process has read everything before another has been forked."""
EACH_FILE = 1 << 20
"""Bytes that could be scanned in the time that a file costs besides."""

Progress = Callable[[int], None]
Plan = Sequence[tuple[Source, list[Span]]]
"""The sources, each with the stretches that it is read in."""


@dataclass(slots=True, eq=False, repr=False)
class Gathered:
    """What reading the sources gave, before it is judged. Reports are in the order of the sources."""

    findings: list[Finding] = field(default_factory=list)
    reports: list[SourceReport] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tails: dict[int, Block] = field(default_factory=dict)
    """The ends of the logs, by the indices of their sources."""

    def add(self, index: int, part: Part) -> None:
        """Take what was read of one source."""
        self.reports.append(part.report)
        self.notes.extend(part.notes)
        self.findings.extend(part.found())
        if part.reading is not None:
            self.readings.append(part.reading)
        elif part.tail is not None:
            self.tails[index] = part.tail


class Gatherer:
    """Reads sources with one scanner.

    Args:
        processes: how many processes may read large inputs; 1 keeps to this one. Others are forked, which
            only a program that runs no other threads may do.
    """

    def __init__(self, scanner: Scanner, processes: int = 1) -> None:
        self._scanner = scanner
        self._processes = processes

    def gather(
        self,
        sources: Sequence[Source],
        *,
        budget: int | None = None,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> Gathered:
        """Everything that the sources say, in their order, whatever the number of processes.

        Args:
            budget: bytes to read at most.
            deadline: the time (of :func:`time.monotonic`) at which to stop.
            progress: called with the number of bytes of each stretch that has been read.
        """
        gathered = Gathered()
        plan = [(source, spans(source)) for source in sources]
        if budget is None and deadline is None:
            whole = _joined(plan, self._all(plan, progress))
        else:
            whole = self._within(plan, budget, deadline, progress)
        for index, part in enumerate(whole):
            gathered.add(index, part)
        gathered.findings.extend(_combined(gathered.readings))
        return gathered

    def _all(self, plan: Plan, progress: Progress | None) -> Iterator[Part]:
        """Every part of every source."""
        if self._processes > 1 and _worth_forking(plan):
            from triage.reading.processes import read_parts

            yield from read_parts(self._scanner, plan, self._processes, progress)
            return
        for index, (source, stretches) in enumerate(plan):
            for span in stretches:
                yield read_part(self._scanner, source, index, span=span, progress=progress)

    def _within(
        self, plan: Plan, budget: int | None, deadline: float | None, progress: Progress | None
    ) -> Iterator[Part]:
        """The sources one after the other, as far as bytes and time last."""
        read = 0
        for index, (source, stretches) in enumerate(plan):
            whole: Part | None = None
            for span in stretches:
                left = None if budget is None else max(0, budget - read)
                if deadline is not None and time.monotonic() > deadline:
                    left = 0
                part = read_part(
                    self._scanner, source, index, span=span, deadline=deadline, progress=progress,
                    limit=None if left is None else span[0] + left,
                )  # fmt: skip
                read += part.report.bytes_read
                if whole is None:
                    whole = part
                else:
                    whole.extend(part)
                if not part.report.complete:
                    break
            assert whole is not None
            if len(stretches) > 1:
                finish(whole, source, index)
            yield whole


def _worth_forking(plan: Plan) -> bool:
    """Whether there is enough to read, and nothing that speaks against forking."""
    if threading.active_count() > 1 or not hasattr(os, "fork"):
        return False
    size = 0
    for source, _ in plan:
        if source.path is not None and source.data is None:
            try:
                size += EACH_FILE + os.stat(source.path).st_size
            except (OSError, ValueError):
                continue
    return size >= WORTHWHILE


def _joined(plan: Plan, parts: Iterator[Part]) -> Iterator[Part]:
    """The parts of each source as one."""
    for index, (source, stretches) in enumerate(plan):
        whole = next(parts)
        for _ in stretches[1:]:
            whole.extend(next(parts))
        if len(stretches) > 1:
            finish(whole, source, index)
        yield whole


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
