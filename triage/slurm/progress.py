"""Was a job that reached its time limit still working? The time of its last progress tells."""

from __future__ import annotations

import time
from collections.abc import Sequence

from triage.engine import Engine
from triage.model import Finding, Moment, Source
from triage.slurm.reading import LogFile
from triage.slurm.record import JobRecord

TAIL = 1 << 20
STEPS = 10
"""Steps in a row that must be missing before a pause is called a stall."""
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
    last: float | None = None
    step: float | None = None
    for file in files:
        name = file.path
        for finding in engine.findings(Source(name, data=file.tail(TAIL))):
            if engine.rules[finding.rule_id].fact != "progress":
                continue
            moment, length = _cadence(finding, job.end)
            if moment is not None and moment <= job.end + 60:
                last = moment if last is None else max(last, moment)
            if length is not None:
                step = length if step is None else max(step, length)
    if last is None or step is None:
        return None
    idle = job.end - last
    if idle < max(STEPS * step, LEAST, SHARE * job.seconds):
        return None
    return idle, f"a step had taken {step:.3g} s"


def _cadence(finding: Finding, near: float) -> tuple[float | None, float | None]:
    """When the last of some folded progress lines was written, and the mean time between them."""
    first = _epoch(finding.time, near)
    last = _epoch(finding.last_time, near) if finding.last_time is not None else first
    if first is None or last is None or finding.count < 3 or last <= first:
        return last, None
    return last, (last - first) / (finding.count - 1)


def _epoch(moment: Moment | None, near: float) -> float | None:
    """Unix seconds of a printed time; without a zone it is local time, as on the job's nodes."""
    if moment is None or moment.clock != "wall":
        return None
    return moment.seconds if moment.zoned else moment.seconds - time.localtime(near).tm_gmtoff
