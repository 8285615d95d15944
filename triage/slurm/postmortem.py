"""One job's post-mortem: its record and its logs, judged apart and then settled into one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from triage.engine import Engine
from triage.model import Diagnosis, Source
from triage.slurm.arbitration import Ruling, rule, settle
from triage.slurm.logs import DEFAULT_LIMIT, Logs, open_logs
from triage.slurm.outcome import judged
from triage.slurm.progress import stall
from triage.slurm.record import JobRecord
from triage.slurm.requeue import avoid, decide


@dataclass(frozen=True, slots=True)
class PostMortem:
    """The answer for one job: the diagnosis, who decided, and what the scheduler is told."""

    job: JobRecord
    diagnosis: Diagnosis
    ruling: Ruling
    requeue: dict[str, Any]
    log: str | None = None
    """The log next to which the report belongs: standard error, else standard output."""

    def to_dict(self) -> dict[str, Any]:
        """The published form: the diagnosis as everywhere, with ``slurm`` beside it."""
        return {
            **self.diagnosis.to_dict(),
            "slurm": {**described(self.job), "ruling": self.ruling.why},
            "requeue": self.requeue,
        }


def examine(
    engine: Engine,
    job: JobRecord,
    *,
    evidence: Sequence[Source] = (),
    uid: int | None = None,
    limit: int = DEFAULT_LIMIT,
    follow: bool = False,
) -> PostMortem:
    """Read a job's logs and judge it. Whoever calls this has become the job's user where that matters.

    Args:
        evidence: what was collected on the nodes: kernel logs, GPU states.
        uid: the user whose files count as the job's; None: anybody's.
        limit: bytes of logs that are read at most.
        follow: follow symlinks, for people who look at their own jobs.
    """
    logs = open_logs(job, uid=uid, limit=limit, follow=follow)
    try:
        return _examined(engine, job, logs, evidence, limit)
    finally:
        logs.close()


def _examined(
    engine: Engine, job: JobRecord, logs: Logs, evidence: Sequence[Source], limit: int
) -> PostMortem:
    sources = (*logs.sources(), *evidence)
    log = engine.diagnose_sources(sources, budget=limit, notes=logs.notes) if sources else None
    stalled = stall(engine, logs.files, job) if job.state == "TIMEOUT" else None
    account = judged(job, engine.rules, stalled)
    ruling = rule(job, log, account, engine.rules)
    diagnosis = settle(ruling, job, log, account)
    if log is None:
        diagnosis = replace(diagnosis, notes=tuple(dict.fromkeys((*diagnosis.notes, *logs.notes))))
    if diagnosis.root_cause is not None:
        nodes = avoid(job, diagnosis)
        diagnosis = replace(diagnosis, root_cause=replace(diagnosis.root_cause, nodes_to_avoid=nodes))
    primary = logs.primary or (logs.files[0].path if logs.files else None)
    return PostMortem(job, diagnosis, ruling, decide(job, diagnosis), primary)


def described(job: JobRecord) -> dict[str, Any]:
    """The facts of the record that a reader of the report wants."""
    facts = {
        "job": job.display_id, "job_id": job.job_id, "name": job.name, "user": job.user, "partition": job.partition,
        "state": job.state, "reason": job.reason, "exit_code": job.exit_code, "signal": job.signal,
        "derived_exit_code": job.derived_exit_code, "cancelled_by": job.cancelled_by, "nodes": list(job.nodes),
        "failed_node": job.failed_node, "submit": job.submit, "start": job.start, "end": job.end,
        "elapsed_s": job.seconds, "limit_s": job.limit, "tres": dict(job.tres), "gpu_hours": round(job.gpu_hours, 3),
        "restarts": job.restarts, "facts_from": list(job.origin),
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value not in (None, [], {})}
