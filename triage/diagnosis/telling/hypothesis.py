"""From a candidate to a hypothesis: texts filled in, steps chosen, origin joined, evidence picked."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.conditions import functions_of, names_of
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.phases import phase_at
from triage.diagnosis.ranks.seats import Identities
from triage.diagnosis.telling.announced import announced_by_another
from triage.diagnosis.telling.beside import beside
from triage.diagnosis.telling.in_pods import pod_of
from triage.diagnosis.telling.joined import joined
from triage.diagnosis.telling.listed import listed
from triage.diagnosis.telling.on_gpu import numbered_as_gpu
from triage.diagnosis.telling.origin import origin_of
from triage.diagnosis.telling.own_file import by_own_file
from triage.diagnosis.telling.pasted import job_id, log_of
from triage.diagnosis.telling.shown import evidence, own_words
from triage.diagnosis.telling.undertook import only_on_main, raised_with, silent_since, undertaken_by_one
from triage.diagnosis.templates import fill, kinds_of
from triage.model import Discouraged, Hypothesis, Step
from triage.scan.around import Around

NODE_CATEGORIES = frozenset({"gpu-hardware", "network-fabric", "topology", "shm", "storage"})


def build(
    job: Job,
    identities: Identities,
    candidate: Candidate,
    confidence: float,
    year: int | None,
    around: Around | None = None,
    kin: Sequence[Item] = (),
) -> Hypothesis:
    """The published form of a candidate; with ``around``, what stands around its lines is shown with them, and ``kin``."""
    lead = candidate.lead
    rule = lead.rule
    origin = origin_of(candidate, identities, year, around)
    origin = announced_by_another(job, origin, lead, around, identities)
    if origin.rank is None and not origin.ranks and lead.finding.raised:
        raised = raised_with(job, lead)
        origin = only_on_main(origin, raised, lead, job, identities)
        origin = undertaken_by_one(origin, raised, lead, job, around, identities)
        origin = by_own_file(origin, raised, lead, job, around, identities)
        origin = silent_since(origin, raised, lead, job, around, identities)
    origin = listed(job, numbered_as_gpu(job, origin, lead, identities), lead, identities)
    origin = joined(job, origin, lead)
    near = None if around is None else beside(job, identities, candidate, origin, around)
    phase = lead.text("phase") or rule.phase or phase_at(job, lead.finding)
    names = names_of(job, lead, identities.world_size, phase)
    names["ranks"] = lead.fields.get("ranks") or origin.ranks or None
    if names.get("file") is not None:
        names["place"] = (
            f"{names['file']}:{names['line']}" if names.get("line") is not None else names["file"]
        )
    for name, value in (
        ("rank", origin.rank), ("host", origin.host), ("gpu", origin.gpu), ("pci", origin.pci_bus_id),
        ("uuid", origin.gpu_uuid), ("local_rank", origin.local_rank), ("time", origin.time),
    ):  # fmt: skip
        if names.get(name) is None:
            names[name] = value
    for item in candidate.items[1:]:
        if item.rank == lead.rank:  # the same writer may say elsewhere what the first line leaves out
            for field, said in item.fields.items():
                if names.get(field) is None:
                    names[field] = said
    for name, known in (("job_id", job_id), ("log", lambda job: log_of(job, lead))):
        if names.get(name) is None:
            names[name] = known(job)
    kinds = kinds_of(rule)
    functions = functions_of(job, lead)

    def text(template: str) -> str:
        return fill(template, names, kinds)

    steps: list[Step] = []
    for remedy in rule.remediation:
        if remedy.condition is not None and not remedy.condition.holds(names, functions):
            continue
        steps.append(
            Step(
                do=text(remedy.do),
                run=fill(remedy.run, names, kinds, command=True) if remedy.run else None,
                verify=text(remedy.verify) if remedy.verify else None,
                owner=remedy.owner or rule.owner,
            )
        )
    host = origin.host if origin.host != pod_of(candidate) else None  # a pod may come to another node
    return Hypothesis(
        rule_id=rule.id,
        title=text(rule.title),
        category=rule.category or "unknown",
        phase=phase,
        confidence=round(confidence, 2),
        summary=text(rule.summary or rule.title),
        origin=origin,
        evidence=evidence(job, candidate, own_words(job, candidate, origin), origin.rank, near, kin),
        explains=tuple(dict.fromkeys(i.rule.id for i in candidate.explains)),
        owner=rule.owner,
        remediation=tuple(steps),
        does_not_help=tuple(
            Discouraged(text(a.do), text(a.why))
            for a in rule.does_not_help
            if a.condition is None or a.condition.holds(names, functions)
        ),
        retry=rule.retry,
        nodes_to_avoid=(host,) if host and _avoid(rule.category, rule.retry) else (),
        references=rule.references,
        reasons=tuple(candidate.reasons),
    )


def _avoid(category: str | None, retry: str) -> bool:
    return retry == "other-nodes" and category in NODE_CATEGORIES | {"host-oom", "driver-or-version"}
