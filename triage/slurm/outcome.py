"""What the record alone says: which rule states the end of the job, as a finding, judged by the engine's rules."""

from __future__ import annotations

import re
import signal as signals

from triage.diagnosis import Run
from triage.diagnosis import diagnose as judge
from triage.model import Diagnosis, Evidence, Finding, Source, SourceReport, Value
from triage.readers.slurm_values import ENDED_BY, LAUNCH_SIGNAL, OOM_SIGNAL, size
from triage.rules.loader import RuleSet
from triage.slurm.record import JobRecord, StepRecord
from triage.text import safe

SOURCE = "accounting"
STALLED = "slurm.timeout-after-stall"
_STATES = {**ENDED_BY, "REQUEUED": "slurm.requeued-run", "SPECIAL_EXIT": "slurm.requeued-run"}
_HELD = r"(?i)launch.?fail\w*.*(?:requeued|held)|requeued.?held|JobHeldAdmin"
_SCRIPT_STEPS = frozenset({"batch", "extern", "interactive"})


def rule_of(job: JobRecord) -> str | None:
    """The id of the rule that states how the job ended; None when it completed or is not over."""
    reason = job.reason or ""
    if job.state == "CANCELLED":
        return _cancelled(job)
    if _out_of_memory(job):
        return _STATES["OUT_OF_MEMORY"]
    if re.search(r"(?i)prolog", reason) and job.state != "COMPLETED":
        return "slurm.recorded-prolog"
    if job.state in _STATES:
        return _STATES[job.state]
    if job.state == "PENDING" and re.search(_HELD, reason):
        return "slurm.held-after-launch-failures"
    if job.state == "COMPLETED":
        return "slurm.step-failed-unnoticed" if failed_unnoticed(job) else None
    if job.state == "FAILED" or (job.state is None and (job.exit_code or job.signal)):
        if _never_launched(job):
            return _STATES["LAUNCH_FAILED"]
        return "slurm.ended-by-signal" if ending_signal(job) else "slurm.ended-with-code"
    return None


def failed_unnoticed(job: JobRecord) -> tuple[StepRecord, ...]:
    """The steps that failed in a job whose script ended with 0."""
    if job.exit_code or job.signal:
        return ()
    failed = tuple(s for s in job.steps if s.id not in _SCRIPT_STEPS and s.failed and s.state != "CANCELLED")
    if not failed and (job.derived_exit_code or job.derived_signal):
        return (StepRecord("?", exit_code=job.derived_exit_code, signal=job.derived_signal),)
    return failed


def ending_signal(job: JobRecord) -> int | None:
    """The signal that ended the job, as Slurm or a shell (128 + n) states it; None for an exit code."""
    if job.signal:
        return job.signal
    if job.exit_code is not None and 128 < job.exit_code <= 128 + 31:
        return job.exit_code - 128
    return None


def signal_name(number: int | None) -> str | None:
    """``SIGKILL`` for 9."""
    if number is None:
        return None
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def judged(job: JobRecord, rules: RuleSet, stall: tuple[float, str] | None = None) -> Diagnosis:
    """The diagnosis from the record alone; ``stall`` is how long a job stood still, and how that is known."""
    rule_id = STALLED if stall is not None and job.state == "TIMEOUT" else rule_of(job)
    findings = []
    if rule_id is not None and rule_id in rules:
        findings.append(_finding(rule_id, job, stall))
    elif job.state == "COMPLETED":
        findings.append(_finding("slurm.recorded-completed", job, None))
    report = SourceReport(SOURCE, "sacct", bytes_read=len(described(job)))
    return judge(Run(rules=rules, sources=[Source(SOURCE)], findings=findings, reports=[report]))


def described(job: JobRecord) -> str:
    """The record as one line, as ``scontrol`` would print it."""
    parts: list[tuple[str, object]] = [
        ("JobID", job.display_id), ("State", job.state), ("ExitCode", _code(job.exit_code, job.signal)),
        ("DerivedExitCode", _code(job.derived_exit_code, job.derived_signal)), ("Reason", job.reason),
        ("NNodes", job.node_count), ("FailedNode", job.failed_node), ("Restarts", job.restarts),
    ]  # fmt: skip
    if job.cancelled_by is not None:
        parts.insert(2, ("CancelledBy", job.cancelled_by))
    failed = [
        f"{s.id}:{s.state} {_code(s.exit_code, s.signal) or ''}".strip() for s in job.steps if s.failed
    ][:6]
    if failed:
        parts.append(("FailedSteps", ", ".join(failed)))
    return safe(" ".join(f"{k}={v}" for k, v in parts if v not in (None, "")), 1000)


def _code(exit_code: int | None, signal: int | None) -> str | None:
    return None if exit_code is None and signal is None else f"{exit_code or 0}:{signal or 0}"


def _cancelled(job: JobRecord) -> str:
    if job.cancelled_by is None or job.uid is None:
        return "slurm.recorded-cancelled"
    return "slurm.cancelled-by-its-user" if job.cancelled_by == job.uid else "slurm.cancelled-by-another"


def _out_of_memory(job: JobRecord) -> bool:
    """The kernel's killer ended it; not a helper in a step that survived."""
    if job.state == "OUT_OF_MEMORY":
        return True
    if job.state == "COMPLETED":
        return False
    return OOM_SIGNAL in {job.signal, job.derived_signal, *(s.signal for s in job.steps if s.failed)}


def _never_launched(job: JobRecord) -> bool:
    """Signal 53 is Slurm's own; its reason JobLaunchFailure also follows a script killed by a signal."""
    if job.signal == LAUNCH_SIGNAL or any(s.id == "batch" and s.signal == LAUNCH_SIGNAL for s in job.steps):
        return True
    started = any(s.id == "batch" or s.id.isdecimal() for s in job.steps)
    return bool(re.search(r"(?i)launch.?fail", job.reason or "")) and not started and not job.signal


def _finding(rule_id: str, job: JobRecord, stall: tuple[float, str] | None) -> Finding:
    largest = max(job.steps, key=lambda s: s.max_rss or 0, default=None)
    signal = ending_signal(job)
    fields: dict[str, Value] = {
        "job_id": job.display_id, "name": safe(job.name, 200) if job.name else None, "state": job.state,
        "reason": safe(job.reason, 200) if job.reason else None, "exit_code": job.exit_code,
        "failed_node": job.failed_node or (job.nodes[0] if len(job.nodes) == 1 else None),
        "nodes": ",".join(job.nodes[:16]) or None, "elapsed": job.seconds or None, "limit": job.limit,
        "requested": _bytes(job), "cancelled_by": job.cancelled_by, "restarts": job.restarts, "user": job.user,
        "peak": largest.max_rss if largest else None, "peak_step": largest.id if largest else None,
        "peak_node": largest.max_rss_node if largest else None, "signal": signal_name(signal),
        "idle": stall[0] if stall else None, "steps": stall[1] if stall else None,
        "failed_steps": ", ".join(
            f"step {s.id} (exit code {_code(s.exit_code, s.signal)})" for s in failed_unnoticed(job)[:4]
        ) or None,
    }  # fmt: skip
    known = {name: value for name, value in fields.items() if value is not None}
    host = job.nodes[0] if len(job.nodes) == 1 else None
    return Finding(
        rule_id=rule_id, fields=known, evidence=(Evidence(SOURCE, None, described(job), known),), source=0, offset=0,
        host=host, level="error",
    )  # fmt: skip


def _bytes(job: JobRecord) -> int | None:
    return job.tres.get("mem") or size(job.memory_requested)
