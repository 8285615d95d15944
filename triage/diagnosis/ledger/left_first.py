"""Ranks that ended as if all were well while the others went on, until their launcher lost patience and ended those."""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.absence import stopped
from triage.diagnosis.ledger.parting import said_last
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value


def left_first(job: Job) -> Iterator[Item]:
    """The few that left, by what the launcher tells and by what they said last; where most left, the others are slow."""
    for item in job.of_fact("left-first"):
        ranks, running = item.ranks("ranks"), item.ranks("running")
        if not ranks or len(ranks) >= len(running):
            continue
        if any(i.rank in ranks and (i.finding.raised or i.rule.role == "cause") for i in job.items):
            continue
        said = [word for rank in ranks if (word := stopped(job, rank) or said_last(job, rank)) is not None]
        fields: dict[str, Value] = {"ranks": ranks, "seq": None, "op": None}
        one = ranks[0] if len(ranks) == 1 else None
        yield verdict(job, "ledger.finished-early", fields, [*said[:2], item], rank=one)
        return
