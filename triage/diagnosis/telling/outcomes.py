"""Attempts, each judged, and which of them holds the cause of the job's failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triage.diagnosis.attempts import attempts as attempts_module
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.job import Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.run import Run
from triage.diagnosis.telling.origin import moment_text
from triage.model import Attempt, Evidence, Hypothesis, Verdict


@dataclass(slots=True, eq=False, repr=False)
class Outcome:
    """One attempt, judged."""

    job: Job
    identities: Identities
    ledger: Ledger
    ranking: Ranking
    verdict: Verdict
    completed: bool | None
    hypotheses: list[Hypothesis]
    warnings: list[Hypothesis]
    alarm: Evidence | None
    """An alarming line that nobody knows and that keeps this attempt from being called healthy."""


def choose(outcomes: Sequence[Outcome], run: Run) -> tuple[int, list[str]]:
    """Which attempt's cause is the job's: the first whose cause recurs or after which nothing moved."""
    last = len(outcomes) - 1
    if last > 0 and outcomes[last - 1].verdict == "failed" and _stillborn(outcomes[last]):
        return last - 1, [
            f"attempt {last} ended before its first step, so the cause of attempt {last - 1} is the job's"
        ]
    if last > 0 and outcomes[last - 1].verdict == "failed" and _unseen(outcomes[last], run):
        return last - 1, [
            f"nothing of attempt {last} was seen but its start, so the cause of attempt {last - 1} is the job's"
        ]
    if last == 0 or outcomes[last].verdict != "failed":
        return last, ([] if last == 0 else [f"attempt {last} of {last + 1} decides: it did not fail"])
    final = outcomes[last].hypotheses[0] if outcomes[last].hypotheses else None
    this = attempts_module.cancelled_jobs(outcomes[last].job.items)
    for number in range(last):
        earlier = outcomes[number]
        if not earlier.hypotheses or earlier.verdict != "failed":
            continue
        theirs = attempts_module.cancelled_jobs(earlier.job.items)
        if this and theirs and this.isdisjoint(theirs):
            continue  # Slurm ended it as a job of its own
        cause = earlier.hypotheses[0]
        if final is not None and cause.rule_id == final.rule_id:
            if not cause.origin.ranks and final.origin.ranks and cause.summary == final.summary:
                return last, [f"attempt {number} failed alike; only attempt {last} tells where"]
            return number, [f"attempt {number} failed first; the same cause recurs in attempt {last}"]
        if cause.rule_id in attempts_module.NEVER_RAN:
            continue  # who had mistyped corrected it and started again
        moved = any(later.job.of_fact("progress") for later in outcomes[number + 1 :])
        weaker = final is None or final.category in _AFTERMATH or final.confidence < cause.confidence
        # ranks that worked together before had a network: what keeps them apart now was left by the first end
        weaker |= final is not None and final.category == "network-config" and _met(earlier, final)
        if not moved and weaker:
            return number, [
                f"attempt {number} failed first and no later attempt made progress, so its cause is the job's"
            ]
    return last, []


def _met(outcome: Outcome, final: Hypothesis) -> bool:
    """Whether the ranks of a try were connected when it failed, of something else than what keeps them apart in the ``final`` one.

    They made steps, or lost each other; or got further than to where the last try failed, which met nothing on its
    way there.
    """
    job, cause = outcome.job, outcome.hypotheses[0]
    if job.of_fact("progress"):
        return True
    if cause.category in _APART:
        return False
    lost = any(i.finding.raised and i.rule.role == "symptom" for i in job.of_tag("peer-loss"))
    return lost or (final.phase == "bootstrap" and cause.phase != "bootstrap")


_APART = frozenset({"network-config", "rendezvous", "port-conflict", "network-fabric"})
"""What keeps ranks from meeting each other."""


def _stillborn(outcome: Outcome) -> bool:
    """Whether a last try did nothing but raise what follows from another's end."""
    job = outcome.job
    if outcome.verdict != "healthy" or outcome.completed or job.of_fact("progress"):
        return False
    return any(i.finding.raised and i.rule.role == "symptom" for i in job.items)


_AFTERMATH = frozenset(
    {"port-conflict", "rendezvous", "unknown", "rank-crash", "straggler-or-hang", "gpu-oom"}
)
"""What a failed first attempt often leaves to the next: its port, its memory, its absence."""


def _unseen(outcome: Outcome, run: Run) -> bool:
    """Whether a log ends with the launcher's words that it tries again: what became of that try is not there."""
    items = outcome.job.items
    if (
        outcome.verdict != "healthy"
        or outcome.completed
        or len(items) != 1
        or len(run.sources) != 1
        or run.cut
    ):
        return False
    return not outcome.job.of_fact("progress") and run.bytes_read - items[0].finding.offset < _JUST_BEGUN


_JUST_BEGUN = 400
"""Bytes after the words that a try begins in which it can hardly have shown that it lives."""


def attempts(outcomes: Sequence[Outcome], year: int | None) -> tuple[Attempt, ...]:
    """The attempts as the diagnosis shows them."""
    found: list[Attempt] = []
    for number, outcome in enumerate(outcomes):
        times = [i.finding.time for i in outcome.job.items if i.finding.time is not None]
        found.append(
            Attempt(
                number=number,
                verdict=outcome.verdict,
                root_cause=outcome.hypotheses[0]
                if outcome.hypotheses and outcome.verdict == "failed"
                else None,
                began=moment_text(times[0], year) if times else None,
                ended=moment_text(times[-1], year) if times else None,
            )
        )
    return tuple(found)
