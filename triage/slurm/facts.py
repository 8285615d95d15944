"""From queue entries to records: what hooks were told, completed and corrected by accounting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage.slurm import hookenv
from triage.slurm.command import SlurmError
from triage.slurm.outcome import failed_unnoticed
from triage.slurm.query import Slurm
from triage.slurm.record import JobRecord
from triage.slurm.spool import OVERFLOW, Entry
from triage.sources.hostlist import expand

LAG_LIMIT = 180.0
"""Seconds after which what the hook was told has to do."""


@dataclass(slots=True)
class Facts:
    """Records ready to be judged with their entries; entries that have to wait for accounting; finished ones."""

    ready: dict[int, JobRecord] = field(default_factory=dict)
    entries: dict[int, list[str]] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def gather(entries: Sequence[Entry], slurm: Slurm, now: float) -> Facts:
    """Merge the entries by job, ask accounting once, and sort out who waits."""
    facts = Facts()
    hooked: dict[int, JobRecord] = {}
    queued: dict[int, float] = {}
    for entry in entries:
        record = hookenv.parse(entry.environment)
        if record is None:
            _extra(entry, slurm, facts, hooked, queued)
            continue
        known = hooked.get(record.job_id)
        # completion records state the state, epilogs don't
        hooked[record.job_id] = record if known is None else (
            known.filled(record) if known.state else record.filled(known)
        )  # fmt: skip
        facts.entries.setdefault(record.job_id, []).append(entry.name)
        queued[record.job_id] = min(entry.queued, queued.get(record.job_id, entry.queued))
    accounted: dict[int, JobRecord] = {}
    try:
        accounted = {job.job_id: job for job in slurm.jobs(sorted(hooked))} if hooked else {}
    except SlurmError as error:
        facts.problems.append(str(error))
    for job_id, hook in hooked.items():
        _sort(facts, hook, accounted.get(job_id), now - queued[job_id], slurm)
    return facts


def _sort(facts: Facts, hook: JobRecord, account: JobRecord | None, age: float, slurm: Slurm) -> None:
    names = facts.entries.get(hook.job_id, [])
    usable = account is not None and (account.over or account.state == "PENDING")
    if account is not None and account.over and _another_run(hook, account):
        usable = False
    if not usable and hook.state is None and age < LAG_LIMIT:
        facts.later.extend(names)
        return
    job = account.filled(hook) if usable and account is not None else guessed(hook)
    if job.state == "COMPLETED" and not failed_unnoticed(job):
        facts.finished.extend(names)
        return
    waiting = job.state == "PENDING"
    if waiting or not (job.stdout or job.stderr):
        live = slurm.controller(job.job_id)
        if live is not None:
            job = live.filled(job) if waiting else job.filled(replace(live, state=None))
    facts.ready[job.job_id] = job


def _another_run(hook: JobRecord, account: JobRecord) -> bool:
    """Accounting has an older run of a requeued job only."""
    return hook.start is not None and account.start is not None and account.start < hook.start - 2


def guessed(hook: JobRecord) -> JobRecord:
    """The state as far as a status tells it, for hooks that are not told."""
    if hook.state is not None:
        return hook
    return replace(hook, state="FAILED" if hook.exit_code or hook.signal else "COMPLETED")


def _extra(
    entry: Entry, slurm: Slurm, facts: Facts, hooked: dict[int, JobRecord], queued: Mapping[int, float]
) -> None:
    """A lost node, or a queue that was full: ask accounting which jobs that concerns."""
    nodes = set(expand(entry.environment.get("TRIAGE_NODES")))
    if not nodes and entry.name != OVERFLOW:
        facts.finished.append(entry.name)
        return
    try:
        jobs = slurm.ended_since(entry.queued - 900)
    except SlurmError as error:
        facts.problems.append(str(error))
        facts.later.append(entry.name)
        return
    for job in jobs:
        concerned = entry.name == OVERFLOW or (job.state == "NODE_FAIL" and nodes & set(job.nodes))
        if concerned and job.state != "COMPLETED" and job.job_id not in hooked:
            facts.ready[job.job_id] = job
    facts.finished.append(entry.name)
