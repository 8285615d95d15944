"""Logs and accounting contradict each other often. Which of them wins, and why, is decided here alone.

Accounting knows how the job was ended from outside and what status its script had. Logs know what went
wrong inside. So accounting wins where Slurm itself ended the job and nothing had failed before; logs win
where something had; and a status of 0 is believed unless a process is seen to die.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from triage.model import Diagnosis, Hypothesis
from triage.rules.loader import RuleSet
from triage.slurm.outcome import STALLED, ending_signal, failed_unnoticed, signal_name
from triage.slurm.record import JobRecord

_HARDWARE = frozenset({"gpu-hardware", "network-fabric", "driver-or-version"})
_NOT_FROM_MEMORY = frozenset(
    {
        "gpu-oom",
        "gpu-oom-fragmentation",
        "config",
        "auth-or-hub",
        "gpu-hardware",
        "numerics",
        "driver-or-version",
    }
)
"""What a kill by the memory cgroup cannot bring about."""
_NEVER_STARTED = frozenset({"BOOT_FAIL", "DEADLINE", "REVOKED"})
_KILLS = frozenset({"SIGKILL", "SIGTERM"})


@dataclass(frozen=True, slots=True)
class Ruling:
    """Who wins: ``log``, ``accounting`` or ``neither`` (nothing failed), with a sentence why."""

    winner: str
    why: str


def rule(job: JobRecord, log: Diagnosis | None, account: Diagnosis, rules: RuleSet) -> Ruling:
    """Decide between the diagnosis of the logs (None: there are none) and that of the record."""
    if log is None or log.root_cause is None:
        if account.root_cause is None:
            return Ruling("neither", "accounting and logs show no failure")
        words = "there was no log to read" if log is None else "the logs show no failure of their own"
        return Ruling("accounting", f"accounting decides: {words}")
    cause = log.root_cause
    if account.root_cause is None:
        return _completed(job, log, rules) if job.state == "COMPLETED" else Ruling(
            "log", f"the log decides: accounting has no final state ({job.state or 'unknown'})"
        )  # fmt: skip
    if job.state in _NEVER_STARTED or account.root_cause.rule_id in {
        "slurm.recorded-prolog", "slurm.held-after-launch-failures"
    }:  # fmt: skip
        return Ruling(
            "accounting", f"accounting decides: the program was not started ({job.reason or job.state})"
        )
    if account.root_cause.rule_id == "slurm.recorded-out-of-memory":
        return _memory(cause)
    if job.state in {"NODE_FAIL", "REQUEUED"}:
        return _node(job, cause)
    if job.state == "PREEMPTED":
        return Ruling(
            "accounting", "accounting decides: Slurm preempted the job, and what its ranks said follows"
        )
    if job.state in {"CANCELLED", "TIMEOUT"}:
        return _stopped(job, log, cause, account.root_cause, rules)
    return _exited(job, cause)


def settle(ruling: Ruling, job: JobRecord, log: Diagnosis | None, account: Diagnosis) -> Diagnosis:
    """One diagnosis from two: the winner's cause, the loser's as an alternative or a warning, the ruling noted."""
    base = log if log is not None else account
    findings = base.findings if base is account else (*base.findings, *account.findings)
    sources = base.sources if base is account else (*base.sources, *account.sources)
    notes = tuple(dict.fromkeys((ruling.why, *(n for n in base.notes if not _idle(n)))))
    base = replace(base, findings=findings, sources=sources, notes=notes)
    if ruling.winner == "neither":
        warnings = base.warnings
        if log is not None and log.root_cause is not None:
            warnings = (_with(log.root_cause, ruling.why, 0.5), *warnings)
        return replace(
            base, verdict="healthy", completed=True if job.state == "COMPLETED" else base.completed, root_cause=None,
            alternatives=(), warnings=warnings, fingerprint=None, reasoning=(ruling.why, *base.reasoning),
        )  # fmt: skip
    won, lost = (log, account) if ruling.winner == "log" and log is not None else (account, log)
    root = won.root_cause
    if root is None:
        return base
    root = _with(root, ruling.why, 1.0)
    others = [_with(lost.root_cause, f"it lost: {ruling.why}", 0.5)] if lost and lost.root_cause else []
    others = [o for o in others if o.rule_id != root.rule_id]
    return replace(
        base, verdict="failed", completed=False, root_cause=root,
        alternatives=(*others, *(a for a in base.alternatives if a.rule_id != root.rule_id)),
        fingerprint=won.fingerprint, reasoning=(ruling.why, *base.reasoning),
    )  # fmt: skip


def _with(cause: Hypothesis, why: str, weight: float) -> Hypothesis:
    return replace(cause, reasons=(*cause.reasons, why), confidence=round(cause.confidence * weight, 2))


def _idle(note: str) -> bool:
    """Notes that ask for what accounting has told meanwhile."""
    return note.startswith(
        ("Nothing in the input was recognised", "The log ends without saying", "There is nothing")
    )


def _completed(job: JobRecord, log: Diagnosis, rules: RuleSet) -> Ruling:
    """COMPLETED, all steps too, and yet the log shows a failure."""
    if failed_unnoticed(job):
        return Ruling("log", "the log decides: a step failed, and only the batch script ended with 0")
    cause = log.root_cause
    if cause is not None and cause.category == "host-oom":
        return Ruling(
            "neither",
            "accounting decides: a process was killed for memory, but every step completed with 0: a helper",
        )
    if _died(log, rules):
        return Ruling(
            "log", "the log decides: a launcher saw a process die, so the script did not pass its status on "
            "(a pipe without pipefail, `|| true`)",
        )  # fmt: skip
    return Ruling(
        "neither", "accounting decides: script and steps ended with 0, so the error in the log was survived"
    )


def _died(log: Diagnosis, rules: RuleSet) -> bool:
    if any(r.exit_code or r.signal for r in log.ranks):
        return True
    tags = {"rank-exit", "launcher-report"}
    return any(g.rule_id in rules and tags & set(rules[g.rule_id].tags) for g in log.findings)


def _memory(cause: Hypothesis) -> Ruling:
    if cause.category == "host-oom":
        return Ruling("log", "log and accounting agree on memory; the log knows the process")
    if cause.category in _NOT_FROM_MEMORY:
        return Ruling(
            "log",
            f"the log decides: {cause.category} does not follow from a memory kill, which may have met a helper",
        )
    return Ruling(
        "accounting", "accounting decides: the kernel killed processes of the job, the rest follows from that"
    )


def _node(job: JobRecord, cause: Hypothesis) -> Ruling:
    if cause.category in _HARDWARE:
        return Ruling("log", "the log decides: it shows the hardware fault that took the node away")
    what = "a node was lost" if job.state == "NODE_FAIL" else "this run was requeued"
    return Ruling(
        "accounting", f"accounting decides: {what}, and what the other ranks said follows from that"
    )


def _stopped(
    job: JobRecord, log: Diagnosis, cause: Hypothesis, account: Hypothesis, rules: RuleSet
) -> Ruling:
    """scancel or the time limit: did something fail before?"""
    what = "the cancellation" if job.state == "CANCELLED" else "the time limit"
    if _is_stop(cause, rules) or _is_kill(cause):
        if account.rule_id == STALLED:
            return Ruling(
                "accounting", "the last progress decides: the job stood still long before its time limit"
            )
        return Ruling("accounting", f"accounting decides: {what} ended the job, and nothing failed before")
    stopped = _stop_time(log)
    failed = _moment(cause.origin.time)
    if stopped is not None and failed is not None and failed >= stopped:
        return Ruling(
            "accounting", f"accounting decides: the error came after {what}, while processes were killed"
        )
    return Ruling("log", f"the log decides: it shows a failure before {what}, which only ended the job")


def _is_stop(cause: Hypothesis, rules: RuleSet) -> bool:
    return cause.rule_id in rules and "external-stop" in rules[cause.rule_id].tags


def _is_kill(cause: Hypothesis) -> bool:
    """A bare death by the signals that Slurm itself sends."""
    if cause.rule_id != "ledger.killed":
        return False
    return any(e.fields.get("signal") in _KILLS for e in cause.evidence) or any(
        k in cause.summary for k in _KILLS
    )


def _stop_time(log: Diagnosis) -> datetime.datetime | None:
    """When slurmstepd says that it stopped the job."""
    times = [
        t for text in _texts(log) for m in re.finditer(r"CANCELLED AT (\S+)", text) if (t := _moment(m[1]))
    ]
    return min(times, default=None)


def _texts(log: Diagnosis) -> Iterator[str]:
    return (e.text for group in log.findings for e in group.evidence)


def _moment(text: str | None) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text).replace(tzinfo=None) if text else None
    except ValueError:
        return None


def _exited(job: JobRecord, cause: Hypothesis) -> Ruling:
    """An exit code or a signal says that it failed, never why."""
    number = ending_signal(job)
    ended = f"{signal_name(number)}" if number else f"exit code {job.exit_code}"
    return Ruling(
        "log", f"the log decides: {ended} says that the job failed, the log says why ({cause.rule_id})"
    )
