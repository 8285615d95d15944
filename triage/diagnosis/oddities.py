"""What single ranks said out of the ordinary before the others began to wait."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.run import Ends

MAX_SHOWN = 2


def observed(job: Job, ends: Ends | None) -> list[Item]:
    """The odd lines of a job in which somebody waited in vain."""
    if ends is None or not any(job.of_tag(tag) for tag in TROUBLE):
        return []
    until: dict[int, int] = {}
    for item in job.items:
        if item.rule.role == "symptom" and set(TROUBLE).intersection(item.rule.tags):
            at = item.finding.source
            until[at] = min(until.get(at, item.finding.offset), item.finding.offset)
    return [Item(f, job.rules[f.rule_id]) for f in ends.oddities(until) if f.rule_id in job.rules]


def suspect(job: Job, among: Collection[int]) -> int | None:
    """The one rank of ``among`` that said something out of the ordinary, None where several or none did."""
    differing = {item.rank for item in job.of_fact("deviant")}
    if len(differing) == 1 and (rank := differing.pop()) in among:
        return rank
    ranks = {item.rank for item in job.of_fact("oddity") if item.rank in among}
    speakers = ranks | {item.rank for item in job.of_fact("last-line") if item.rank is not None}
    if len(speakers) < 2:
        return None  # where one rank does the talking, what it says is nothing out of its ordinary
    return ranks.pop() if len(ranks) == 1 else None


def shown(job: Job, verdicts: Iterable[Item]) -> list[Item]:
    """The verdicts, each with what the rank that it blames said last out of the ordinary."""
    return [_with_words(job, item) for item in verdicts]


def with_words_of_ranks(job: Job) -> list[Item]:
    """The items of a job, those verdicts that flight-recorder dumps gave with what the rank at fault said."""
    return [_with_words(job, item) if _of_a_dump(item) else item for item in job.items]


def _of_a_dump(item: Item) -> bool:
    return item.rule.role == "cause" and item.reader == "flight-recorder"


def _with_words(job: Job, item: Item) -> Item:
    rank = item.rank
    told = [*job.of_fact("oddity"), *job.of_fact("deviant")]
    odd = [o for o in told if o.rank is None or rank is None or o.rank == rank]
    own = [o for o in odd if o.rank is not None and o.rank == rank] or odd
    if rank is not None and not own:
        own = [o for o in job.of_fact("last-line") if o.rank == rank]
    lines = [e for o in own[-MAX_SHOWN:] for e in o.finding.evidence]
    if not lines or len(own) > 2 * MAX_SHOWN:
        return item
    first, *others = item.finding.evidence
    evidence = (first, *(e for e in lines if e != first), *(e for e in others if e not in lines))
    return Item(replace(item.finding, evidence=evidence), item.rule)
