"""Which candidate is the root cause: who explains whom, what was survived, what came first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triage.diagnosis.causes.candidates import Candidate, blamed
from triage.diagnosis.causes.caught import caught_alike
from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.survival.survival import Survival
from triage.rules.schema import Rule
from triage.scan.lazy import compiled

NEAR = 0.16
"""Scores closer than this are decided by which came first."""
ALIKE = 0.1
"""Scores closer than this say nothing about which of two ranks failed first."""
_OTHER = (
    r"(?:partner|peer|neighbou?r|(?:an)?other (?:rank|worker|side|process|node|end)"
    r"|(?:rank|worker|process|node|shard|client|actor)s? ?#?\d+)s?"
)
_WARNED = r"[^\n]{0,200}?\.py:\d+: \w*Warning: "
"""How a line of Python's ``warnings`` begins."""
_OF_ANOTHER = (
    rf"(?i)\b{_OTHER}\b.{{0,60}}\b(?:did ?n[o']t|does ?n[o']t|never|fail(?:ed|ure)|missing|gone|lost|dead|died|crashed|timed out|left"
    r"|no (?:reply|response|answer|heartbeat)|not (?:respond|answer|arriv|report)\w*|disappeared|closed|unreachable|unresponsive|exited)\b"
    r"|\b(?:no (?:reply|response|answer|heartbeat|data|message|result)s?|nothing|lost|waiting|timed out|gave up)\b.{0,40}"
    rf"\b(?:from|for|on|to|of) {_OTHER}\b"
)
"""How programs say that it was another one of them."""
KERNEL_READERS = frozenset({"topology", "nvidia-smi", "dcgm", "ibstat", "sacct", "kubernetes"})


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
            other.survived is None and _left_without_gpus(candidate, other) for other in candidates
        ):
            candidate.survived = None
    caught_alike(candidates)
    survived = [c for c in candidates if c.survived is not None]
    causes = [c for c in candidates if c.survived is None]
    idle = _without_effect(causes, job, survival)
    survived += idle
    causes = [c for c in causes if not any(c is other for other in idle)]
    for candidate in causes:
        _score(candidate, job, ledger)
    _explain(causes, job, ledger)
    free = sorted((c for c in causes if c.explained_by is None), key=_preference)
    held = sorted((c for c in causes if c.explained_by is not None), key=_preference)
    if free:
        best = _earliest_of_equals(free)
        free.remove(best)
        free.insert(0, best)
    for candidate in free[:1]:
        candidate.explains = _symptoms_of(candidate, job)
        candidate.rivals = [other for other in free[1:] if _contest(candidate, other)]
    return Ranking([*free, *held], survived)


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


def _warned(lead: Item) -> bool:
    """Whether Python's ``warnings`` printed it: whoever did so went on."""
    shown = lead.finding.evidence
    return bool(shown) and compiled(_WARNED).match(shown[0].text) is not None


def _preference(candidate: Candidate) -> tuple[float, int, int, str]:
    lead = candidate.lead.finding
    return (-candidate.score, lead.source, lead.offset, candidate.rule_id)


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
    reasons.append(f"{lead.rule.id} starts at {score:.2f}")
    if finding.raised and not candidate.of_ledger and not lead.rule.id.startswith("unknown.like-"):
        score += 0.03
        reasons.append("raised as an exception, not just printed")
    elif finding.level in {"warning", "info", "debug"} and not candidate.of_ledger and not _nccl_error(lead):
        loss = 0.12 if finding.level == "warning" else 0.18
        score -= loss
        reasons.append(f"only logged at level {finding.level}")
    elif not candidate.of_ledger and not finding.raised and _warned(lead):
        score -= 0.3
        reasons.append("Python only warned of it")
    if candidate.rule_id == "ledger.never-entered-silent" and ledger.identities.world_size is None:
        score -= 0.22
        reasons.append("no line says how many ranks there are, so others may be missing as well")
    if "unclaimed" in lead.rule.tags and compiled(_OF_ANOTHER).search(lead.text("message") or ""):
        score -= 0.12
        reasons.append("speaks of another process, whose own error says more")
    if nameless(candidate):
        score -= 0.3
        reasons.append("the log breaks off before the exception is named")
    wait = ledger.waiting.get(lead.rank) if lead.rank is not None else None
    if not candidate.of_ledger and wait is not None and compare(finding, wait.item.finding) == 1:
        score -= 0.4
        reasons.append("came after this rank's own timeout: fallout of the abort")
    elif not candidate.of_ledger and _after_teardown(lead, job):
        score -= 0.25
        reasons.append("came after the launcher had begun to end the job")
    if not candidate.of_ledger and lead.rank is not None:
        score += _by_exit(lead.rank, ledger, reasons)
        if ledger.waiting and lead.rank not in ledger.waiting:
            score += 0.05
            reasons.append(f"rank {lead.rank} is not among those that waited")
    candidate.score = score


def _nccl_error(item: Item) -> bool:
    """Whether NCCL or a plugin of it says so: it has no level above WARN."""
    return any("NCCL WARN" in shown.text for shown in item.finding.evidence[:1])


def _by_exit(rank: int, ledger: Ledger, reasons: list[str]) -> float:
    """What the exit codes say of a rank that complained: who was told to stop did not die of it."""
    ended = ledger.exits.get(rank)
    if ended is None or not ended.failed:
        return 0.0
    others = [e for r, e in ledger.exits.items() if r != rank]
    if ended.orderly and any(e.failed and not e.orderly for e in others):
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


def _gap(one: Item, other: Item) -> float | None:
    a, b = one.finding.time, other.finding.time
    return None if a is None or b is None or a.clock != b.clock else abs(a.seconds - b.seconds)


def _explain(causes: list[Candidate], job: Job, ledger: Ledger) -> None:
    """Draw the edges: strongest explainers first, never in a circle."""
    order = sorted(causes, key=_preference)
    passed_on = _passed_on(causes, job)
    for candidate in causes:
        candidate.foretold_by = [c for c in causes if _foretells(c, candidate)]
        best: Candidate | None = None
        why = ""
        for other in order:
            if other is candidate or _leads_to(candidate, other):
                continue
            reason = _reason(other, candidate, ledger)
            if not reason and id(candidate) in passed_on and id(other) not in passed_on:
                reason = _told_first_hand(other, candidate)
            if reason and (best is None or other.score > best.score):
                best, why = other, reason
        if best is not None:
            candidate.explained_by, candidate.why_explained = best, why
            best.led_to.append(candidate)


def _passed_on(causes: Sequence[Candidate], job: Job) -> set[int]:
    """Candidates that are known only from lines in which a process repeats what another one raised."""
    lines = {
        (item.finding.source, shown.line)
        for item in job.of_tag("wrapper") if item.rule.role == "symptom"
        for shown in item.finding.evidence
    }  # fmt: skip
    return {
        id(c) for c in causes
        if all((i.finding.source, e.line) in lines for i in c.items for e in i.finding.evidence)
    }  # fmt: skip


def _told_first_hand(cause: Candidate, effect: Candidate) -> str:
    """Why what was only passed on is what a rank said itself, in a log of its own."""
    one, two = cause.lead.finding, effect.lead.finding
    alike = _kind(cause) == _kind(effect) and cause.score >= effect.score - NEAR
    if alike and one.source != two.source and one.raised and one.rank is not None and two.rank is None:
        return f"rank {one.rank} said it, and {effect.rule_id} was only passed on"
    return ""


def _foretells(sign: Candidate, candidate: Candidate) -> bool:
    """Whether a risk that names ``candidate`` was seen before it, and is too weak to be the cause itself."""
    if (
        not sign.advisory
        or sign is candidate
        or sign.score >= candidate.score
        or not _states(sign, candidate)
    ):
        return False
    return compare(sign.lead.finding, candidate.lead.finding) == -1


def _leads_to(source: Candidate, target: Candidate) -> bool:
    """Whether ``target`` is already explained, directly or not, by ``source``."""
    seen: set[int] = set()
    current: Candidate | None = target
    while current is not None and id(current) not in seen:
        if current is source:
            return True
        seen.add(id(current))
        current = current.explained_by
    return False


def _reason(cause: Candidate, effect: Candidate, ledger: Ledger) -> str:
    """Why ``cause`` explains ``effect``, empty when it does not."""
    order = compare(cause.lead.finding, effect.lead.finding)
    if nameless(cause) or (cause.rule_id == "ledger.exited" and order != -1 and not effect.of_ledger):
        return ""  # an exception that breaks off, or an exit code that any error leaves, explains no other
    if _in_vain_after(cause, effect, order) or _in_vain_after(effect, cause, -order if order else order):
        # a process was gone before the others began to complain
        return f"{effect.rule_id} came after it" if effect.rule_id == _UNLOCALISED else ""
    if _states(cause, effect) and not _elsewhere(cause, effect):
        if cause.advisory and cause.score < effect.score:
            return ""  # it stays beside the better founded one, as an alternative
        late = order == 1 and not _hardware(cause) and not cause.of_ledger and not effect.of_ledger
        ordered = not _of_another_stream(cause, effect) and not _side_by_side(cause, effect)
        if late and ordered and not _stopped_by(cause, effect):
            return ""
        return f"{cause.rule_id} is known to lead to {effect.rule_id}"
    if _left_without_gpus(cause, effect):
        return "CUDA could not be initialised in this process, which had no GPU from then on"
    if effect.of_ledger and not cause.of_ledger:
        return _explains_verdict(cause, effect, ledger)
    if cause.of_ledger and not effect.of_ledger:
        return _explained_by_verdict(cause, effect, ledger)
    if not cause.of_ledger and not effect.of_ledger:
        return _same_trouble(cause, effect, order)
    return ""


_UNLOCALISED = "ledger.waiting-unlocalised"
"""Ranks that waited for nobody knows whom."""


def _in_vain_after(death: Candidate, wait: Candidate, order: int | None) -> bool:
    """Whether somebody told that a process had died, before ranks gave up that waited for nobody knows whom."""
    told = "rank-exit" in death.lead.rule.tags and death.lead.rule.category == "rank-crash"
    return wait.rule_id == _UNLOCALISED and told and not death.of_ledger and order == -1


def _stopped_by(cause: Candidate, effect: Candidate) -> bool:
    """Whether both tell of one stop: who stops a job says so while its processes already obey."""
    stop = "external-stop"
    return (
        stop in cause.lead.rule.tags and stop in effect.lead.rule.tags and cause.rule_id.startswith("slurm.")
    )


def _left_without_gpus(cause: Candidate, effect: Candidate) -> bool:
    """Whether torch warned that it can use no GPU, and an exception that speaks of one came after it."""
    warned, raised = cause.lead.finding, effect.lead.finding
    return (
        raised.raised
        and not warned.raised
        and effect is not cause
        and warned.source == raised.source
        and warned.rank == raised.rank
        and compare(warned, raised) == -1
        and any(_WITHOUT_GPUS in shown.text for shown in warned.evidence[:1])
        and any(compiled(_OF_GPUS).search(shown.text) for shown in raised.evidence[:1])
    )


_WITHOUT_GPUS = "CUDA initialization: "
"""torch says so where it goes on as if there were no GPU."""
_OF_GPUS = r"(?i)\b(?:gpus?|cuda|accelerators?|devices?|nvidia|bf16|fp16|bfloat16|half|float16|triton)\b"


def _side_by_side(cause: Candidate, effect: Candidate) -> bool:
    """Whether two kinds of exceptions ended different ranks, and nothing tells which of them was first."""
    one, two = cause.lead.finding, effect.lead.finding
    apart = bool(cause.ranks) and bool(effect.ranks) and set(cause.ranks).isdisjoint(effect.ranks)
    speakers = {i.rank for i in cause.items} & {i.rank for i in effect.items}
    timed = one.time is not None and two.time is not None
    return one.raised and two.raised and not timed and (apart or not speakers)


def _of_another_stream(cause: Candidate, effect: Candidate) -> bool:
    """Whether the cause was printed past the launcher's or logger's prefixes, so in an order of its own.

    A kernel's assertion goes to the standard output of the process, the exception to its standard error.
    """
    one, two = cause.lead.finding, effect.lead.finding
    return one.source == two.source and not one.stream and bool(two.stream) and one.time is None


def nameless(candidate: Candidate) -> bool:
    """Whether the log breaks off before it names an exception."""
    return "unclaimed" in candidate.lead.rule.tags and candidate.lead.text("type") is None


def _states(cause: Candidate, effect: Candidate) -> bool:
    named = cause.lead.rule.explains
    tags = {f"tag:{tag}" for tag in effect.lead.rule.tags}
    return effect.rule_id in named or any(name in tags for name in named)


def _elsewhere(cause: Candidate, effect: Candidate) -> bool:
    """Whether one rank's own error is asked to explain another rank's death."""
    if effect.rule_id not in {"ledger.killed", "ledger.exited", "python.fatal-error"}:
        return False
    if _hardware(cause) or not cause.ranks or not effect.ranks:
        return False
    return not set(cause.ranks) & set(effect.ranks)


def _hardware(candidate: Candidate) -> bool:
    rule = candidate.lead.rule
    return rule.category in {"gpu-hardware", "network-fabric", "host-oom", "topology", "scheduler"} or (
        rule.signature is not None and rule.signature.reader in KERNEL_READERS
    )


STUCK = ("ledger.stuck-in", "ledger.all-in-build")
"""Verdicts by the stacks of processes."""


def _explains_verdict(cause: Candidate, verdict: Candidate, ledger: Ledger) -> str:
    """A rank's own words explain why the ledger finds it missing, dead or out of step."""
    if cause.score < 0.4 or _states(verdict, cause):
        return ""
    ranks = set(cause.ranks)
    accused = set(verdict.ranks)
    waiting = ledger.waiting
    lead = cause.lead
    if ranks and accused and ranks & accused:
        rank = min(ranks & accused)
        wait = min((w.item.finding.offset for w in waiting.values()), default=None)
        if wait is not None and verdict.rule_id in _DIVERGENCE:
            return ""  # taking another path is itself the cause
        return f"rank {rank} said why"
    if verdict.rule_id in _DIVERGENCE:
        return ""
    if ranks and ranks <= set(waiting) and not accused & ranks:
        return ""
    first = min(waiting.values(), key=lambda w: w.item.finding.offset, default=None)
    stop = "external-stop" in lead.rule.tags
    if stop and verdict.rule_id.startswith(STUCK):
        return ""  # who stops a job has seen it stand still
    late = first is not None and compare(lead.finding, first.item.finding) == 1
    late = late and (stop or not _hardware(cause))
    if late and not (ranks and accused):
        return ""  # after the first timeout only a rank that was not itself waiting can be the cause
    if not accused or not ranks:
        return f"{cause.rule_id} happened and {verdict.rule_id} names no better reason"
    if accused and ranks and not ranks & accused and cause.score > verdict.score:
        return f"{cause.rule_id} on rank {min(ranks)} is the stronger evidence"
    return ""


_DIVERGENCE = frozenset(
    {"ledger.fingerprint-desync", "ledger.fingerprint-tie", "ledger.desync", "ledger.desync-tie",
     "ledger.timeout-too-short", "torch.fr-type-mismatch", "torch.fr-size-mismatch", "torch.fr-order-mismatch",
     "torch.fr-p2p-unmatched", "torch.fr-extra-collective"}
)  # fmt: skip


def _explained_by_verdict(verdict: Candidate, effect: Candidate, ledger: Ledger) -> str:
    """Errors of ranks that waited, after their wait, follow from whatever kept them waiting."""
    lead = effect.lead
    if not ledger.waiting:
        return ""
    wait = ledger.waiting.get(lead.rank) if lead.rank is not None else None
    if wait is not None and compare(lead.finding, wait.item.finding) == 1:
        return f"came after rank {lead.rank} had timed out"
    if lead.rank is None and not _hardware(effect):
        first = min(ledger.waiting.values(), key=lambda w: w.item.finding.offset)
        if compare(lead.finding, first.item.finding) == 1 and verdict.score > effect.score + 0.05:
            return "came after the first timeout"
    return ""


def _same_trouble(cause: Candidate, effect: Candidate, order: int | None) -> str:
    """An earlier error of the same writer explains a later one that is no better known."""
    one, two = cause.lead.finding, effect.lead.finding
    if order != -1 or one.source != two.source:
        return ""
    if two.raised and _warned(cause.lead):
        return ""  # it went on after that
    same_writer = one.stream == two.stream and one.rank == two.rank and not _of_two_devices(cause, effect)
    if same_writer and cause.score >= effect.score - NEAR:
        return "the same process had said this before"
    if blamed(cause.lead) and blamed(effect.lead) and cause.score >= effect.score:
        return "an earlier error of another rank"
    return ""


def _of_two_devices(cause: Candidate, effect: Candidate) -> bool:
    """Whether two lines are about different devices: the kernel tells of all of them, and is no process that breaks down."""
    devices = {cause.lead.text("pci"), effect.lead.text("pci")} - {None}
    return len(devices) > 1


def _earliest_of_equals(free: Sequence[Candidate]) -> Candidate:
    """Of those that score about the same, the one that is known to come first."""
    best = free[0]
    for other in free[1:]:
        if best.score - other.score > NEAR:
            break
        if best.lead.finding.raised and _warned(other.lead):
            continue
        if compare(other.lead.finding, best.lead.finding) == -1 and not _hardware(best):
            other.reasons.append(f"came before {best.rule_id}")
            best = other
    return best


def _contest(best: Candidate, other: Candidate) -> bool:
    """Whether two ranks each raised an error of one kind, and no clock and no file tells which did first."""
    one, two = best.lead.finding, other.lead.finding
    alike = _kind(best) == _kind(other) and abs(best.score - other.score) <= ALIKE
    return (
        alike and one.raised and two.raised and best.lead.rule.origin == "speaker"
        and not best.lead.rule.origin_fields
        and one.rank is not None and two.rank is not None and one.rank != two.rank
        and compare(one, two) is None
    )  # fmt: skip


def _kind(candidate: Candidate) -> str:
    return (candidate.lead.rule.category or "").removesuffix("-fragmentation")


def _symptoms_of(candidate: Candidate, job: Job) -> list[Item]:
    """Everything that the accepted cause demotes: all symptoms, and the causes it explains."""
    return [i for i in job.items if i.rule.role == "symptom"]
