"""Was a job that reached its time limit still working? The time of its last progress tells."""

from __future__ import annotations

import time
from collections.abc import Sequence

from triage.engine import Engine
from triage.model import Moment, Source
from triage.slurm.reading import LogFile
from triage.slurm.record import JobRecord

TAIL = 1 << 20
STEPS = 10
"""Steps in a row that must be missing before a pause is called a stall."""
LEAST_STEPS = 2
"""Steps that have to be seen before their length is known."""
LEAST = 30.0
"""Seconds below which no pause is a stall, however short the steps are."""
SHARE = 0.05
"""Share of the run below which no pause is a stall: evaluation and checkpoints take their time."""


def stall(engine: Engine, files: Sequence[LogFile], job: JobRecord) -> tuple[float, str] | None:
    """Seconds between the last progress and the job's end, with how that is known; None when it went on.

    Progress lines with times are needed, at least three, so that the length of a step is known.
    """
    if job.end is None:
        return None
    cadences = [_cadence(engine, file, job.end) for file in files]
    known = [c for c in cadences if c is not None]
    if not known:
        return None
    last, step = max(c[0] for c in known), max(c[1] for c in known)
    idle = job.end - last
    if idle < max(STEPS * step, LEAST, SHARE * job.seconds):
        return None
    return idle, f"a step had taken {step:.3g} s"


def _cadence(engine: Engine, file: LogFile, end: float) -> tuple[float, float] | None:
    """When the last progress in the tail of a log was made, and the mean seconds that a step took before."""
    marks: list[tuple[float, int | None]] = []
    count = 0
    for finding in engine.findings(Source(file.path, data=file.tail(TAIL))):
        if engine.rules[finding.rule_id].fact != "progress":
            continue
        count += finding.count
        step = finding.fields.get("step")
        number = step if isinstance(step, int) and not isinstance(step, bool) and finding.count == 1 else None
        for moment in dict.fromkeys((finding.time, finding.last_time)):
            at = _epoch(moment, end)
            if at is not None and at <= end + 60:
                marks.append((at, number))
    if len(marks) < 2:
        return None
    first, last = min(marks, key=lambda m: m[0]), max(marks, key=lambda m: m[0])
    # samples of a long log: the step numbers tell how many lie between, else at least so many were seen
    steps = last[1] - first[1] if first[1] is not None and last[1] is not None else count - 1
    if steps < LEAST_STEPS or last[0] <= first[0]:
        return None
    return last[0], (last[0] - first[0]) / steps


def _epoch(moment: Moment | None, near: float) -> float | None:
    """Unix seconds of a printed time; without a zone it is local time, as on the job's nodes."""
    if moment is None or moment.clock != "wall":
        return None
    return moment.seconds if moment.zoned else moment.seconds - time.localtime(near).tm_gmtoff
