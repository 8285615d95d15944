"""Processes that torchrun killed itself, because they did not end when it told them to."""

from __future__ import annotations

from collections import defaultdict

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.quoted import LISTED
from triage.scan.clock import wall

_PATIENCE = 30.0
"""Seconds that torchrun gives processes to end after SIGTERM."""
_LATEST = 90.0
"""Seconds after the first failure beyond which somebody else may have killed it."""


def killed_at_last(job: Job) -> set[int]:
    """Ranks whose end torchrun's table dates so long after the first failure as it waits for the others to end."""
    listed: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for item in job.of_rule(LISTED):
        moment, rank = _seconds(item.text("time")), item.number("rank")
        if moment is not None and rank is not None:
            listed[item.finding.source].append((moment, rank))
    late: set[int] = set()
    for entries in listed.values():
        first, culprit = min(entries)
        late |= {r for at, r in entries if r != culprit and _PATIENCE - 1 <= at - first <= _LATEST}
    return late


def _seconds(text: str | None) -> float | None:
    """``2026-11-20_18:16:12``, as the table gives times, in seconds."""
    date, _, time = (text or "").partition("_")
    moment = wall(date, time) if len(date) == len("2026-11-20") and time else None
    return None if moment is None else moment.seconds
