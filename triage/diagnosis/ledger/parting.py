"""What a rank said last before trouble began, and what a line says without what stands before it."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job

_LONGEST = 120


def said_last(job: Job, rank: int) -> Item | None:
    """The last line of a rank before trouble began."""
    told = (*job.of_fact("last-line"), *job.of_fact("oddity"))
    return max((i for i in told if i.rank == rank), key=lambda i: i.finding.offset, default=None)


def said_alone(job: Job, rank: int) -> Item | None:
    """The last line of a rank that no other rank said the like of."""
    told = (*job.of_fact("deviant"), *job.of_fact("own-words"))
    return max((i for i in told if i.rank == rank), key=lambda i: i.finding.offset, default=None)


def own_words(job: Job, item: Item) -> str:
    """What a line says, without its prefix, by all that is known of its log."""
    line = item.finding.evidence[-1].text
    _, message = job.parts(item.finding.source, line)
    return " ".join(message.split())[:_LONGEST]
