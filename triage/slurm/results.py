"""What a worker's child makes of each job, as it comes back through the pipe: checked, since it is untrusted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.engine import Engine
from triage.model import CATEGORIES, RETRIES, Source
from triage.slurm.postmortem import PostMortem, examine
from triage.slurm.record import JobRecord
from triage.slurm.requeue import about, decide

MAX_REPORT = 4 << 20
_FINGERPRINT = re.compile(r"[\w.:-]{1,100}")
_RULE = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome for one job. ``reports`` maps a suffix to a report, for the first job of a fingerprint."""

    job: JobRecord
    decision: dict[str, Any]
    fingerprint: str
    folder: str | None = None
    reports: Mapping[str, str] = field(default_factory=dict)


def produce(
    engine: Engine, jobs: Sequence[JobRecord], evidence: Mapping[int, Sequence[Source]], limit: int
) -> Callable[[Callable[[bytes], None]], None]:
    """The work of a child: judge each job and send one line for it. Reports only for new fingerprints."""

    def work(send: Callable[[bytes], None]) -> None:
        seen: set[tuple[int, str | None]] = set()
        for job in jobs:
            try:
                result = examine(engine, job, evidence=evidence.get(job.job_id, ()), uid=job.uid, limit=limit)
            except Exception as error:  # one job must not take the others with it
                send(_line({"job_id": job.job_id, "error": type(error).__name__}))
                continue
            key = (job.array_job_id or job.job_id, result.diagnosis.fingerprint)
            send(_line(_message(result, full=key not in seen)))
            seen.add(key)

    return work


def _message(result: PostMortem, *, full: bool) -> dict[str, Any]:
    message: dict[str, Any] = {
        "job_id": result.job.job_id,
        "decision": result.requeue,
        "folder": result.log.rpartition("/")[0] or "/" if result.log else None,
    }
    if full:
        message["reports"] = {
            ".json": json.dumps(result.to_dict(), ensure_ascii=False, indent=2) + "\n",
            ".md": result.diagnosis.to_markdown(),
        }
    return message


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=True).encode() + b"\n"


def received(output: bytes, jobs: Sequence[JobRecord]) -> list[Result]:
    """The results in a child's output; what is malformed, or about a job that was not asked for, is dropped."""
    asked = {job.job_id: job for job in jobs}
    found: dict[int, Result] = {}
    for line in output.split(b"\n"):
        try:
            message = json.loads(line)
            job = asked[message["job_id"]]
            found.setdefault(job.job_id, _result(job, message))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return list(found.values())


def unread(engine: Engine, job: JobRecord, why: str) -> Result:
    """The result for a job whose files could not be read: from accounting alone."""
    from triage.slurm.arbitration import rule, settle
    from triage.slurm.outcome import judged

    account = judged(job, engine.rules)
    diagnosis = settle(rule(job, None, account, engine.rules), job, None, account)
    decision = {**decide(job, diagnosis), "note": f"the job's files were not read: {why}"[:300]}
    return Result(job, decision, _fingerprint(decision))


def _result(job: JobRecord, message: Mapping[str, Any]) -> Result:
    decision = _decision(job, message["decision"])
    folder = message.get("folder")
    given = message.get("reports") or {}
    reports = {
        s: given[s] for s in (".json", ".md") if isinstance(given.get(s), str) and len(given[s]) <= MAX_REPORT
    }
    valid = isinstance(folder, str) and folder.startswith("/") and "\0" not in folder and len(folder) < 4096
    return Result(job, decision, _fingerprint(decision), folder if valid else None, reports)


def _fingerprint(decision: Mapping[str, Any]) -> str:
    return str(decision.get("fingerprint") or decision.get("verdict") or "none")


def _decision(job: JobRecord, given: Mapping[str, Any]) -> dict[str, Any]:
    """The decision with identity taken from the record and every other value of the kind that it must be."""
    if not isinstance(given, Mapping):
        raise TypeError("no decision")

    def one_of(name: str, allowed: Sequence[str]) -> str | None:
        return given.get(name) if given.get(name) in allowed else None

    def matching(name: str, pattern: re.Pattern[str]) -> str | None:
        value = given.get(name)
        return value if isinstance(value, str) and pattern.fullmatch(value) else None

    def text(name: str) -> str | None:
        value = given.get(name)
        return "".join(c if c.isprintable() else " " for c in value)[:600] if isinstance(value, str) else None

    nodes = given.get("exclude_nodes")
    confidence = given.get("confidence")
    return {
        **about(job),
        "restarts": job.restarts,
        "verdict": one_of("verdict", ("failed", "healthy", "inconclusive")) or "inconclusive",
        "requeue": given.get("requeue") is True,
        "retry": one_of("retry", RETRIES) or "unknown",
        "exclude_nodes": [n for n in nodes if n in job.nodes] if isinstance(nodes, list) else [],
        "why": text("why"),
        "rule_id": matching("rule_id", _RULE),
        "category": one_of("category", CATEGORIES),
        "title": text("title"),
        "summary": text("summary"),
        "owner": one_of("owner", ("user", "operator", "vendor")),
        "confidence": float(confidence) if isinstance(confidence, int | float) else None,
        "fingerprint": matching("fingerprint", _FINGERPRINT),
        "origin": _origin(job, given.get("origin")),
    }


def _origin(job: JobRecord, given: Any) -> dict[str, Any]:
    given = given if isinstance(given, Mapping) else {}
    uuid = given.get("gpu_uuid")
    return {
        "node": given.get("node") if given.get("node") in job.nodes else None,
        "rank": _count(given.get("rank")),
        "gpu": _count(given.get("gpu")),
        "gpu_uuid": uuid if isinstance(uuid, str) and re.fullmatch(r"[\w-]{4,80}", uuid) else None,
    }


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 24 else None
