"""What the rank that all others wait for had set out to do, by the last that it said before they began to wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.oddities import SILENT
from triage.diagnosis.ledger.parting import own_words, said_last
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.words.undertaking import Undertaking, undertaking
from triage.scan.ordinary.said import without_digits

_RULES: dict[Undertaking, str] = {
    "checkpoint": "ledger.last-at-checkpoint",
    "data-loading": "ledger.last-at-data",
    "compile-or-graph-capture": "ledger.last-at-build",
}

_MISSING = SILENT | {"ledger.named-lagging"}


def undertaken(job: Job, verdicts: Iterable[Item]) -> Iterator[Item]:
    """A verdict more for each of ``verdicts`` that knows no more of a rank than that it is missing, where its last words do."""
    for item in verdicts:
        ranks = item.ranks("ranks")
        if item.rule.id not in _MISSING or len(ranks) != 1:
            continue
        last = said_last(job, ranks[0])
        if last is None or _as_others_do(job, last, ranks[0]):
            continue
        words = own_words(job, last)
        kind = undertaking(words)
        if kind is not None:
            fields = {**item.finding.fields, "words": words}
            yield verdict(job, _RULES[kind], fields, [item, last], rank=ranks[0])


def _as_others_do(job: Job, last: Item, rank: int) -> bool:
    """Whether another rank said the same last: then it tells nothing of the one that is missing."""
    said = without_digits(own_words(job, last))
    return any(
        without_digits(own_words(job, other)) == said
        for other in job.of_fact("last-line")
        if other.rank not in {None, rank}
    )
