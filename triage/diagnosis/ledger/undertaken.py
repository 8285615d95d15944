"""What the rank that all others wait for had set out to do, by the last that it said before they gave up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.lateness import too_short
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.oddities import SILENT
from triage.diagnosis.ledger.parting import own_words
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.words.undertaking import Undertaking, is_over, undertaking
from triage.scan.ordinary.said import without_digits

_MISSING = SILENT | {"ledger.named-lagging"}
_RULES: dict[Undertaking, str] = {
    "checkpoint": "ledger.last-at-checkpoint",
    "data-loading": "ledger.last-at-data",
    "compile-or-graph-capture": "ledger.last-at-build",
}
LAST_AT = frozenset(_RULES.values())
"""Verdicts on a rank by what it said last."""
_PHASES: dict[Undertaking, str] = {"checkpoint": "checkpoint", "compile-or-graph-capture": "compile"}


def undertaken(job: Job, ledger: Ledger, verdicts: Iterable[Item]) -> Iterator[Item]:
    """A verdict more for each of ``verdicts`` that knows no more of a rank than that it is missing, where its words do.

    It never returned from what it had set out to do; or it says, after the others gave up, that this is done.
    """
    for item in verdicts:
        ranks = item.ranks("ranks")
        if item.rule.id not in _MISSING or len(ranks) != 1:
            continue
        before, afterwards = _said(job, ranks[0], item)
        last = before[-1] if before else None
        if last is None or _as_others_do(job, last, ranks[0]):
            continue
        words = own_words(job, last)
        kind = undertaking(words)
        if kind is None:
            continue
        done = next((i for i in afterwards if i.rule.fact == "progress" or is_over(own_words(job, i))), None)
        if done is None:
            fields = {**item.finding.fields, "words": words}
            yield verdict(job, _RULES[kind], fields, [item, last], rank=ranks[0])
            continue
        wait = next(iter(ledger.waiting.values()), None)
        yield too_short(
            job, [item, last, done], timeout=None if wait is None else wait.timeout, seq=item.number("seq"),
            ranks=ranks, phase=_PHASES.get(kind),
            activity=f'at work (it said "{words}", and "{own_words(job, done)}" when they had given up)',
        )  # fmt: skip


def _said(job: Job, rank: int, missed: Item) -> tuple[Sequence[Item], Sequence[Item]]:
    """The lines of a rank that tell of its work, before and after the others gave up."""
    facts = ("last-line", "oddity", "own-words", "alive", "progress")
    own = sorted((i for f in facts for i in job.of_fact(f) if i.rank == rank), key=_place)
    late = [compare(i.finding, missed.finding) == 1 for i in own]
    before = [i for i, after in zip(own, late, strict=True) if not after and i.rule.fact != "progress"]
    return before, [i for i, after in zip(own, late, strict=True) if after]


def _place(item: Item) -> tuple[int, int]:
    return item.finding.source, item.finding.offset


def _as_others_do(job: Job, last: Item, rank: int) -> bool:
    """Whether another rank said the same last: then it tells nothing of the one that is missing."""
    said = without_digits(own_words(job, last))
    return any(
        without_digits(own_words(job, other)) == said
        for other in job.of_fact("last-line")
        if other.rank not in {None, rank}
    )
