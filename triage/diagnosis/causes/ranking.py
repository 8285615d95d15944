"""Which candidate is the root cause: who explains whom, what was survived, what came first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.caught import caught_alike
from triage.diagnosis.causes.explaining import (
    NEAR,
    OF_ANOTHER,
    explain,
    hardware,
    kind_of,
    left_without_gpus,
    nameless,
    preference,
    warned,
)
from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.undertaken import LAST_AT
from triage.diagnosis.survival.survival import Survival
from triage.rules.schema import Rule
from triage.scan.lazy import compiled

ALIKE = 0.1
"""Scores closer than this say nothing about which of two ranks failed first."""


@dataclass(slots=True, eq=False, repr=False)
class Ranking:
    """The outcome: causes best first, what was survived, and the leftovers."""

    causes: list[Candidate]
    survived: list[Candidate]

    @property
    def complainers(self) -> frozenset[str]:
        """Writers that log exceptions which something catches: what they say last ends nothing either."""
        return frozenset(i.finding.stream for c in self.survived if c.caught for i in c.items)


def rank(job: Job, ledger: Ledger, candidates: Sequence[Candidate]) -> Ranking:
    """Order the candidates, the root cause first."""
    survival = Survival(job, ledger)
    for candidate in candidates:
        candidate.survived = _survived(candidate, survival)
    for candidate in candidates:
        # work that needs no GPU goes on after CUDA could not be initialised; what needs one ends
        if candidate.survived is not None and any(
            other.survived is None and left_without_gpus(candidate, other) for other in candidates
        ):
            candidate.survived = None
    _swallowed(candidates)
    caught_alike(candidates)
    survived = [c for c in candidates if c.survived is not None]
    causes = [c for c in candidates if c.survived is None]
    idle = _without_effect(causes, job, survival)
    survived += idle
    causes = [c for c in causes if not any(c is other for other in idle)]
    for candidate in causes:
        _score(candidate, job, ledger)
    explain(causes, job, ledger)
    free = sorted((c for c in causes if c.explained_by is None), key=preference)
    held = sorted((c for c in causes if c.explained_by is not None), key=preference)
    if free:
        best = _earliest_of_equals(free)
        free.remove(best)
        free.insert(0, best)
    for candidate in free[:1]:
        candidate.explains = _symptoms_of(candidate, job)
        candidate.rivals = [other for other in free[1:] if _contest(candidate, other)]
    return Ranking([*free, *held], survived)


def _swallowed(candidates: Sequence[Candidate]) -> None:
    """What a rank went on from and never came back after is its cause all the same, where a rule knows what it was."""
    for verdict in candidates:
        if verdict.rule_id != "ledger.swallowed-exception" or verdict.survived is not None:
            continue
        shown = {(e.path, e.line) for item in verdict.items for e in item.finding.evidence}
        for other in candidates:
            lines = {(e.path, e.line) for item in other.items for e in item.finding.evidence}
            if other.survived is not None and not other.of_ledger and not lines.isdisjoint(shown):
                other.survived = None


def _without_effect(causes: Sequence[Candidate], job: Job, survival: Survival) -> list[Candidate]:
    """Advisory candidates of which no consequence is in sight: warnings, not causes.

    A consequence is another candidate, or a symptom that was not survived, which the rule names
    under ``explains``.
    """
    symptoms = [i for i in job.items if i.rule.role == "symptom"]

    def named(rule: Rule, names: Sequence[str]) -> bool:
        return rule.id in names or any(f"tag:{tag}" in names for tag in rule.tags)

    idle: list[Candidate] = []
    for candidate in causes:
        names = candidate.lead.rule.explains
        if not candidate.advisory:
            continue
        others = (c for c in causes if not c.advisory and named(c.lead.rule, names))
        seen = (i for i in symptoms if named(i.rule, names) and survival.proof(i) is None)
        if next(others, None) is None and next(seen, None) is None:
            idle.append(candidate)
    return idle


def _survived(candidate: Candidate, survival: Survival) -> Item | None:
    """A candidate was survived only if every one of its findings was."""
    proof: Item | None = None
    for item in candidate.items:
        proof = survival.proof(item)
        if proof is None:
            proof = survival.caught(candidate.items)
            candidate.caught = proof is not None
            return proof
    return proof


def _score(candidate: Candidate, job: Job, ledger: Ledger) -> None:
    """Prior of the rule, moved by what the rest of the logs says about this finding."""
    lead = candidate.lead
    finding = lead.finding
    score = lead.rule.confidence
    reasons = candidate.reasons
    reasons.append(f"its rule gives {score:.2f}")
    if finding.raised and not candidate.of_ledger and not lead.rule.id.startswith("unknown.like-"):
        score += 0.03
        reasons.append("raised as an exception, not just printed")
    elif finding.level in {"warning", "info", "debug"} and not candidate.of_ledger and not _nccl_error(lead):
        loss = 0.12 if finding.level == "warning" else 0.18
        score -= loss
        reasons.append(f"only logged at level {finding.level}")
    elif not candidate.of_ledger and not finding.raised and warned(lead):
        score -= 0.3
        reasons.append("Python only warned of it")
    if candidate.rule_id in _MISSING_IN_SILENCE and ledger.identities.world_size is None:
        score -= 0.22
        reasons.append("no line says how many ranks there are, so others may be missing as well")
    if "unclaimed" in lead.rule.tags and compiled(OF_ANOTHER).search(lead.text("message") or ""):
        score -= 0.12
        reasons.append("speaks of another process, whose own error says more")
    if nameless(candidate):
        score -= 0.3
        reasons.append("the log breaks off before the exception is named")
    wait = ledger.waiting.get(lead.rank) if lead.rank is not None else None
    if not candidate.of_ledger and wait is not None and compare(finding, wait.item.finding) == 1:
        score -= 0.4
        reasons.append("came after this rank's own timeout: fallout of the abort")
    elif not candidate.of_ledger and _after_teardown(lead, job) and not _of_the_first_death(lead, ledger):
        score -= 0.25
        reasons.append("came after the launcher had begun to end the job")
    if not candidate.of_ledger and lead.rank is not None:
        score += _by_exit(lead.rank, ledger, reasons)
        if ledger.waiting and not ledger.waits_somewhere(lead.rank):
            score += 0.05
            reasons.append(f"rank {lead.rank} is not among those that waited")
    candidate.score = score


_MISSING_IN_SILENCE = LAST_AT | {"ledger.never-entered-silent"}
"""Verdicts on a rank of which there may be another one like it, unless it is known how many there are."""


def _nccl_error(item: Item) -> bool:
    """Whether NCCL or a plugin of it says so: it has no level above WARN."""
    return any("NCCL WARN" in shown.text for shown in item.finding.evidence[:1])


def _by_exit(rank: int, ledger: Ledger, reasons: list[str]) -> float:
    """What the exit codes say of a rank that complained: who was told to stop did not die of it."""
    ended = ledger.exits.get(rank)
    if ended is None or not ended.failed:
        return 0.0
    others = [e for r, e in ledger.exits.items() if r != rank]
    if ended.orderly and any(e.broke for e in others):
        reasons.append(f"rank {rank} lived until it was told to stop; another rank had died")
        return -0.2
    if not ended.violent and any(e.violent and e.signal != "SIGABRT" for e in others):
        reasons.append(f"another rank was killed while rank {rank} ended by itself")
        return -0.1
    reasons.append(f"rank {rank} ended badly")
    return 0.03


def _after_teardown(item: Item, job: Job) -> bool:
    """Whether the launcher had already told this process to stop."""
    for boundary in job.of_tag("teardown"):
        if boundary is item or boundary.rule.role == "benign":
            continue
        if compare(item.finding, boundary.finding) == 1:
            gap = _gap(item, boundary)
            if gap is None or gap >= 1.0:
                return True
    return False


def _of_the_first_death(item: Item, ledger: Ledger) -> bool:
    """Whether it is what a process printed that died of a signal of its own: a launcher's report of that may stand above."""
    signal = item.text("signal")
    return signal is not None and any(
        ended.violent and ended.signal == signal for ended in ledger.exits.values()
    )


def _gap(one: Item, other: Item) -> float | None:
    a, b = one.finding.time, other.finding.time
    return None if a is None or b is None or a.clock != b.clock else abs(a.seconds - b.seconds)


def _earliest_of_equals(free: Sequence[Candidate]) -> Candidate:
    """Of those that score about the same, the one that is known to come first."""
    best = free[0]
    for other in free[1:]:
        if best.score - other.score > NEAR:
            break
        if best.lead.finding.raised and not best.advisory and (other.advisory or warned(other.lead)):
            continue
        if compare(other.lead.finding, best.lead.finding) == -1 and not hardware(best):
            other.reasons.append(f"came before {best.rule_id}")
            best = other
    return best


def _contest(best: Candidate, other: Candidate) -> bool:
    """Whether two ranks each raised an error of one kind, and no clock and no file tells which did first."""
    one, two = best.lead.finding, other.lead.finding
    alike = kind_of(best) == kind_of(other) and abs(best.score - other.score) <= ALIKE
    return (
        alike and one.raised and two.raised and best.lead.rule.origin == "speaker"
        and not best.lead.rule.origin_fields
        and one.rank is not None and two.rank is not None and one.rank != two.rank
        and compare(one, two) is None
    )  # fmt: skip


def _symptoms_of(candidate: Candidate, job: Job) -> list[Item]:
    """Everything that the accepted cause demotes: all symptoms, and the causes it explains."""
    return [i for i in job.items if i.rule.role == "symptom"]
