"""Which candidate explains which: the edges of the causal graph, and their reasons in words."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate, blamed
from triage.diagnosis.causes.outliving import outlived, unserved
from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.words.accused import accused
from triage.diagnosis.words.phrases import NO_ANSWER, UNREACHED
from triage.scan.lazy import compiled

NEAR = 0.16
"""Scores closer than this are decided by which came first."""
_OTHER = (
    r"(?:partner|peer|neighbou?r|(?:an)?other (?:rank|worker|side|process|node|end)"
    r"|(?:rank|worker|process|node|shard|client|actor)s? ?#?\d+)s?"
)
_WARNED = r"[^\n]{0,200}?\.py:\d+: \w*Warning: "
"""How a line of Python's ``warnings`` begins."""
OF_ANOTHER = (
    rf"(?i)\b{_OTHER}\b.{{0,60}}\b(?:did ?n[o']t|does ?n[o']t|never|fail(?:ed|ure)|missing|gone|lost|dead|died|crashed|timed out|left"
    r"|no (?:reply|response|answer|heartbeat)|not (?:respond|answer|arriv|report)\w*|disappeared|closed|unreachable|unresponsive|exited)\b"
    r"|\b(?:no (?:reply|response|answer|heartbeat|data|message|result)s?|nothing|lost|waiting|timed out|gave up)\b.{0,40}"
    rf"\b(?:from|for|on|to|of) {_OTHER}\b"
)
"""How programs say that it was another one of them."""
KERNEL_READERS = frozenset({"topology", "nvidia-smi", "dcgm", "ibstat", "sacct", "kubernetes"})


def warned(lead: Item) -> bool:
    """Whether Python's ``warnings`` printed it: whoever did so went on."""
    shown = lead.finding.evidence
    return bool(shown) and compiled(_WARNED).match(shown[0].text) is not None


def preference(candidate: Candidate) -> tuple[float, int, int, str]:
    """The order of candidates that nothing else decides: surest first, then as they stand in the logs."""
    lead = candidate.lead.finding
    return (-candidate.score, lead.source, lead.offset, candidate.rule_id)


def explain(causes: list[Candidate], job: Job, ledger: Ledger) -> None:
    """Draw the edges: strongest explainers first, never in a circle."""
    order = sorted(causes, key=preference)
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
    alike = kind_of(cause) == kind_of(effect) and cause.score >= effect.score - NEAR
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
    if outlived(effect, cause):
        return ""
    if outlived(cause, effect):
        return "who said it had just told that a process was gone"
    if unserved(cause, effect):
        return f"{effect.rule_id} speaks of a server that had failed by itself"
    if _in_vain_after(cause, effect, order) or _in_vain_after(effect, cause, -order if order else order):
        # a process was gone before the others began to complain
        return f"{effect.rule_id} came after it" if effect.rule_id == _UNLOCALISED else ""
    if order != 1 and _speaks_of(effect, cause):
        return f"{effect.rule_id} speaks of the rank that it met"
    if order != -1 and _speaks_of(cause, effect):
        return ""
    if _before_its_end(effect, cause) or _ended_it(effect, cause):
        return ""
    if _states(cause, effect) and not _elsewhere(cause, effect):
        if cause.advisory and cause.score < effect.score:
            return ""  # it stays beside the better founded one, as an alternative
        late = order == 1 and not hardware(cause) and not cause.of_ledger and not effect.of_ledger
        ordered = not _of_another_stream(cause, effect) and not _side_by_side(cause, effect)
        if late and ordered and not _stopped_by(cause, effect):
            return ""
        return f"{cause.rule_id} is known to lead to {effect.rule_id}"
    if left_without_gpus(cause, effect):
        return "CUDA could not be initialised in this process, which had no GPU from then on"
    if effect.of_ledger and not cause.of_ledger:
        return _explains_verdict(cause, effect, ledger)
    if cause.of_ledger and not effect.of_ledger:
        return _explained_by_verdict(cause, effect, ledger)
    if not cause.of_ledger and not effect.of_ledger:
        if order == -1 and _named_then(cause, effect):
            return "whoever watches the processes says then which one is gone"
        if order != 1 and _served_it(cause, effect):
            return f"{effect.rule_id} speaks of somebody who answered no more"
        return _same_trouble(cause, effect, order)
    return ""


_CAME_NO_MORE = frozenset(
    {"ledger.swallowed-exception", "ledger.never-entered", "ledger.never-entered-silent", "ledger.vanished"}
)
"""Verdicts on a rank that the others waited for."""


def _ended_it(said: Candidate, verdict: Candidate) -> bool:
    """Whether ``said`` is an exception that went through all of the program of the one rank that came no more."""
    lead, ranks = said.lead, set(said.ranks)
    if (
        verdict.rule_id not in _CAME_NO_MORE
        or "unclaimed" not in lead.rule.tags
        or ranks != set(verdict.ranks)
    ):
        return False
    fields = lead.finding.fields
    uncaught = (
        fields.get("_main") is True and fields.get("_caught") is not True and lead.finding.level is None
    )
    return uncaught and len(ranks) == 1


_LAST_WORDS = frozenset({"rank-crash", "cuda-kernel", "gpu-oom"})
"""Categories of what a process says that dies of it."""


def _named_then(cause: Candidate, effect: Candidate) -> bool:
    """Whether ``effect`` tells by its number which process died, of which one without a name had said the last words."""
    lead, gone = cause.lead, effect.lead
    nobody = not cause.ranks and not lead.finding.stream and sum(i.finding.count for i in cause.items) == 1
    told = "rank" in gone.rule.origin_fields and "rank-exit" in gone.rule.tags and len(effect.ranks) == 1
    return (
        nobody and told and lead.rule.category in _LAST_WORDS and lead.finding.source == gone.finding.source
    )


def _served_it(cause: Candidate, effect: Candidate) -> bool:
    """Whether an exception that no rule knows says that somebody could not be reached, and a process that is no rank had died."""
    died, lost = cause.lead.finding, effect.lead
    apart = not cause.ranks and died.rank is None and died.source != lost.finding.source
    if not apart or "unclaimed" not in lost.rule.tags or cause.lead.rule.category not in _LAST_WORDS:
        return False
    words = lost.text("message") or ""
    return compiled(_UNANSWERED).search(words) is not None


_UNANSWERED = rf"(?i){NO_ANSWER}|{UNREACHED}|\b(?:is|was) (?:unreachable|not reachable|gone|down)\b"


def _speaks_of(effect: Candidate, cause: Candidate) -> bool:
    """Whether an exception that no rule knows complains of the one rank that ``cause`` ended."""
    if "unclaimed" not in effect.lead.rule.tags or len(cause.ranks) != 1:
        return False
    named = {accused(item) for item in effect.items}
    return named == set(cause.ranks) and not named & set(effect.ranks)


_UNLOCALISED = "ledger.waiting-unlocalised"
"""Ranks that waited for nobody knows whom."""


def _in_vain_after(death: Candidate, wait: Candidate, order: int | None) -> bool:
    """Whether somebody told that a process had died, before ranks gave up that waited for nobody knows whom."""
    told = "rank-exit" in death.lead.rule.tags and death.lead.rule.category == "rank-crash"
    return wait.rule_id == _UNLOCALISED and told and not death.of_ledger and order == -1


def _before_its_end(said: Candidate, death: Candidate) -> bool:
    """Whether a process of whose wordless end others tell later had said ``said`` itself: it was alive then."""
    if "rank-exit" not in death.lead.rule.tags or death.of_ledger or said.lead.finding.pid is None:
        return False
    told = death.lead.number("pid") == said.lead.finding.pid
    return told and compare(said.lead.finding, death.lead.finding) == -1


def _stopped_by(cause: Candidate, effect: Candidate) -> bool:
    """Whether both tell of one stop: who stops a job says so while its processes already obey."""
    stop = "external-stop"
    return (
        stop in cause.lead.rule.tags and stop in effect.lead.rule.tags and cause.rule_id.startswith("slurm.")
    )


def left_without_gpus(cause: Candidate, effect: Candidate) -> bool:
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
    if hardware(cause) or not cause.ranks or not effect.ranks:
        return False
    return not set(cause.ranks) & set(effect.ranks)


def hardware(candidate: Candidate) -> bool:
    """Whether a machine says it, not a program that runs on it."""
    rule = candidate.lead.rule
    return rule.category in {"gpu-hardware", "network-fabric", "host-oom", "topology", "scheduler"} or (
        rule.signature is not None and rule.signature.reader in KERNEL_READERS
    )


STUCK = ("ledger.stuck-in", "ledger.all-in-build")
"""Verdicts by the stacks of processes."""


def _explains_verdict(cause: Candidate, verdict: Candidate, ledger: Ledger) -> str:
    """A rank's own words explain why the ledger finds it missing, dead or out of step."""
    if _ended_it(cause, verdict):
        return f"rank {min(cause.ranks)} said why"
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
    late = late and (stop or not hardware(cause))
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
    if lead.rank is None and not hardware(effect):
        first = min(ledger.waiting.values(), key=lambda w: w.item.finding.offset)
        if compare(lead.finding, first.item.finding) == 1 and verdict.score > effect.score + 0.05:
            return "came after the first timeout"
    return ""


def _same_trouble(cause: Candidate, effect: Candidate, order: int | None) -> str:
    """An earlier error of the same writer explains a later one that is no better known."""
    one, two = cause.lead.finding, effect.lead.finding
    if order != -1 or one.source != two.source:
        return ""
    if two.raised and warned(cause.lead):
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


def kind_of(candidate: Candidate) -> str:
    """The category, whatever its shade."""
    return (candidate.lead.rule.category or "").removesuffix("-fragmentation")
