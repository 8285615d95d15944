"""The answer for the scheduler: requeue or not, and where; as plain data, one JSON file per job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.model import Diagnosis
from triage.slurm.record import JobRecord

SCHEMA_VERSION = "1.0"
MAX_RESTARTS = 3
"""Requeues of one job after which no more is advised, whatever the cause."""
LEAST_CONFIDENCE = 0.5
"""Confidence below which no requeue is advised: burning GPUs on a guess helps nobody."""
_TEXT = 600


def decide(job: JobRecord, diagnosis: Diagnosis, *, max_restarts: int = MAX_RESTARTS) -> dict[str, Any]:
    """``{"requeue": bool, "retry": …, "exclude_nodes": […], "why": …}`` and what it rests on.

    ``requeue`` is true only for retries ``as-is`` and ``other-nodes`` of a cause that is known well enough,
    while the job has not been restarted too often.
    """
    cause = diagnosis.root_cause
    retry = cause.retry if cause else "unknown"
    nodes = avoid(job, diagnosis)
    requeue, why = _answer(job, diagnosis, nodes, max_restarts)
    return {
        **about(job),
        "verdict": diagnosis.verdict,
        "requeue": requeue,
        "retry": retry,
        "exclude_nodes": list(nodes),
        "why": why[:_TEXT],
        "restarts": job.restarts,
        "rule_id": cause.rule_id if cause else None,
        "category": cause.category if cause else None,
        "title": cause.title[:_TEXT] if cause else None,
        "summary": cause.summary[:_TEXT] if cause else None,
        "owner": cause.owner if cause else None,
        "confidence": cause.confidence if cause else None,
        "fingerprint": diagnosis.fingerprint,
        "origin": _origin(job, diagnosis),
    }


def about(job: JobRecord) -> dict[str, Any]:
    """What a decision says of the job itself, from Slurm's record alone."""
    return {
        "schema_version": SCHEMA_VERSION,
        "job_id": job.job_id,
        "job": job.display_id,
        "cluster": job.cluster,
        "user": job.user,
        "uid": job.uid,
        "state": job.state,
    }


def avoid(job: JobRecord, diagnosis: Diagnosis) -> tuple[str, ...]:
    """The nodes that the next run should not get: those the diagnosis names, and the one that failed."""
    cause = diagnosis.root_cause
    if cause is None or cause.retry != "other-nodes":
        return ()
    named = [*cause.nodes_to_avoid, *([cause.origin.host] if cause.origin.host else [])]
    if job.state == "NODE_FAIL" and job.failed_node:
        named.append(job.failed_node)
    known = {short(node): node for node in job.nodes}
    # Slurm's names, not what the host calls itself; a host that was not in the job is no reason to avoid it
    return tuple(dict.fromkeys(known[short(n)] for n in named if short(n) in known))


def _origin(job: JobRecord, diagnosis: Diagnosis) -> dict[str, Any]:
    """Node (by Slurm's name) and GPU that are blamed, unknown ones None."""
    cause = diagnosis.root_cause
    host = cause.origin.host if cause else None
    if host is None and cause is not None and cause.rule_id == "slurm.recorded-node-fail":
        host = job.failed_node
    node = {short(n): n for n in job.nodes}.get(short(host)) if host else None
    return {
        "node": node,
        "rank": cause.origin.rank if cause else None,
        "gpu": cause.origin.gpu if cause else None,
        "gpu_uuid": cause.origin.gpu_uuid if cause else None,
    }


def short(node: str) -> str:
    """A host name without its domain."""
    return node.partition(".")[0].lower()


def _answer(
    job: JobRecord, diagnosis: Diagnosis, nodes: tuple[str, ...], max_restarts: int
) -> tuple[bool, str]:
    cause = diagnosis.root_cause
    if diagnosis.verdict != "failed" or cause is None:
        return False, "nothing failed" if diagnosis.verdict == "healthy" else "the cause is not known"
    if cause.retry not in {"as-is", "other-nodes"}:
        return False, {
            "after-fix": "it would fail again until the cause is fixed",
            "never": "it was meant to end",
        }.get(cause.retry, "whether it would work is not known")
    if cause.confidence < LEAST_CONFIDENCE:
        return False, f"the cause is not certain enough ({cause.confidence:.2f})"
    if (job.restarts or 0) >= max_restarts:
        return False, f"it was restarted {job.restarts} times already"
    if job.state in {"PENDING", "REQUEUED"}:
        return False, "Slurm has it in the queue already"
    if cause.retry == "other-nodes" and not nodes:
        return True, "the failure came from outside of the program; which node is to blame is not known"
    return True, "the failure came from outside of the program"


def comment(decision: Mapping[str, Any], *, members: int = 1) -> str:
    """One short line for ``AdminComment``: plain characters only."""
    words = f"triage: {decision.get('category') or decision.get('verdict')}: {decision.get('title') or ''}"
    words += f"; requeue={'yes' if decision.get('requeue') else 'no'} ({decision.get('retry')})"
    if decision.get("exclude_nodes"):
        words += f"; avoid {','.join(decision['exclude_nodes'][:8])}"
    if members > 1:
        words += f"; same for {members} jobs"
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " .,:;-_/()=+#%") else " " for c in words)
    return " ".join(kept.split())[:240]
