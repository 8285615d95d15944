"""A period at a glance: what failed, by cause, user and node, against everything that ran."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.slurm.outcome import failed_unnoticed
from triage.slurm.record import JobRecord
from triage.slurm.results import Result

EXCESS = 3.0
"""How many times the overall failure rate makes a node conspicuous."""
LEAST_FAILURES = 3
INTENDED = frozenset({"slurm.cancelled-by-its-user"})
"""Ends that were wanted: they count as no loss."""


@dataclass(slots=True)
class Row:
    """One line of a table. GPU-hours of a job on several nodes are shared between them."""

    name: str
    failed: int = 0
    jobs: int = 0
    hours_lost: float = 0.0
    hours: float = 0.0
    blamed: int = 0
    """Failures that name this very node, beyond having run on it."""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "name": self.name, "failed": self.failed, "jobs": self.jobs, "blamed": self.blamed,
            "gpu_hours_lost": round(self.hours_lost, 3), "gpu_hours": round(self.hours, 3), "note": self.note,
        }  # fmt: skip


@dataclass(slots=True)
class Summary:
    """The tables of one period."""

    runs: int = 0
    failed: int = 0
    hours: float = 0.0
    hours_lost: float = 0.0
    causes: list[Row] = field(default_factory=list)
    users: list[Row] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    recurring: list[Row] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "schema_version": "1.0", "runs": self.runs, "failed": self.failed, "gpu_hours": round(self.hours, 3),
            "gpu_hours_lost": round(self.hours_lost, 3), "causes": [r.to_dict() for r in self.causes],
            "users": [r.to_dict() for r in self.users], "nodes": [r.to_dict() for r in self.nodes],
            "recurring": [r.to_dict() for r in self.recurring],
        }  # fmt: skip


def is_failure(job: JobRecord) -> bool:
    """Whether a post-mortem of the run is worth making."""
    return job.over and (job.state != "COMPLETED" or bool(failed_unnoticed(job)))


def summarise(runs: Sequence[JobRecord], results: Sequence[Result]) -> Summary:
    """Tables from all runs of a period and the results of those that failed."""
    verdicts = {(r.job.job_id, r.job.start): r for r in results if r.decision["verdict"] == "failed"}
    causes: dict[str, Row] = {}
    users: dict[str, Row] = {}
    nodes: dict[str, Row] = {}
    summary = Summary(runs=len(runs))
    for job in runs:
        result = verdicts.get((job.job_id, job.start))
        lost = result is not None and result.decision["rule_id"] not in INTENDED
        summary.hours += job.gpu_hours
        user = _row(users, job.user or f"uid {job.uid}")
        _count(user, job.gpu_hours, failed=lost)
        for node in job.nodes:
            _count(_row(nodes, node), job.gpu_hours / len(job.nodes), failed=lost)
        if result is None:
            continue
        cause = _row(causes, result.decision["rule_id"] or "unknown")
        cause.note = f"{result.decision['category'] or 'unknown'}: {result.decision['title'] or ''}"
        _count(cause, job.gpu_hours, failed=True)
        summary.failed += lost
        summary.hours_lost += job.gpu_hours if lost else 0.0
    for node, jobs in _blamed(verdicts).items():
        _row(nodes, node).blamed = len(jobs)
    summary.causes = sorted(causes.values(), key=lambda r: (-r.hours_lost, -r.failed, r.name))
    summary.users = sorted(
        (r for r in users.values() if r.failed), key=lambda r: (-r.hours_lost, -r.failed, r.name)
    )
    summary.nodes = sorted(
        (r for r in nodes.values() if r.failed), key=lambda r: (-r.blamed, -r.failed, r.name)
    )
    summary.recurring = [*_conspicuous(summary), *_gpus(verdicts)]
    return summary


def _row(rows: dict[str, Row], name: str) -> Row:
    return rows.setdefault(name, Row(name))


def _count(row: Row, hours: float, *, failed: bool) -> None:
    row.jobs += 1
    row.hours += hours
    if failed:
        row.failed += 1
        row.hours_lost += hours


_Verdicts = Mapping[tuple[int, float | None], Result]


def _blamed(verdicts: _Verdicts) -> dict[str, set[int]]:
    """Node to the jobs whose cause began on it; the tasks of one array count once."""
    found: dict[str, set[int]] = defaultdict(set)
    for result in verdicts.values():
        job = result.job
        for node in {result.decision["origin"]["node"], *result.decision["exclude_nodes"]} - {None}:
            found[node].add(job.array_job_id or job.job_id)
    return found


def _conspicuous(summary: Summary) -> list[Row]:
    """Nodes blamed by two jobs or more, and nodes on which far more fails than elsewhere."""
    found: list[Row] = []
    rate = summary.failed / summary.runs if summary.runs else 0.0
    for row in summary.nodes:
        if row.blamed >= 2:
            row.note = f"{row.blamed} jobs failed because of it"
        elif row.failed >= LEAST_FAILURES and row.failed / row.jobs > EXCESS * rate:
            row.note = f"{row.failed} of {row.jobs} jobs failed on it, {rate:.0%} elsewhere and here"
        else:
            continue
        found.append(row)
    return found


def _gpus(verdicts: _Verdicts) -> list[Row]:
    """GPUs that several jobs name, by UUID, else by node and index."""
    jobs: dict[str, set[int]] = defaultdict(set)
    hours: Counter[str] = Counter()
    for result in verdicts.values():
        origin = result.decision["origin"]
        if result.decision["category"] not in {"gpu-hardware", "network-fabric", "driver-or-version"}:
            continue
        if origin["gpu_uuid"] or (origin["node"] and origin["gpu"] is not None):
            name = origin["gpu_uuid"] or f"{origin['node']} GPU {origin['gpu']}"
            jobs[name].add(result.job.array_job_id or result.job.job_id)
            hours[name] += result.job.gpu_hours  # type: ignore[assignment]
    return [
        Row(
            name,
            failed=len(ids),
            jobs=len(ids),
            hours_lost=hours[name],
            blamed=len(ids),
            note=f"{len(ids)} jobs failed because of it",
        )
        for name, ids in sorted(jobs.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(ids) >= 2
    ]


def table(summary: Summary, most: int = 20) -> str:
    """The summary for a terminal."""
    share = summary.hours_lost / summary.hours if summary.hours else 0.0
    lines = [
        f"{summary.runs} runs ended, {summary.failed} failed; "
        f"{summary.hours_lost:.1f} of {summary.hours:.1f} GPU-hours lost ({share:.0%})"
    ]
    for title, rows in (("cause", summary.causes), ("user", summary.users), ("node", summary.nodes)):
        if rows:
            lines += ["", f"{'failed/jobs':>13}  {'GPU-hours lost/all':>20}  by {title}"]
            lines += [_line(row, cause=title == "cause") for row in rows[:most]]
            if len(rows) > most:
                lines.append(f"{'':>13}  {'':>20}  and {len(rows) - most} more")
    if summary.recurring:
        lines += ["", "keeps coming up"]
        lines += [
            f"  {_clean(row.name)}: {row.note}, {row.hours_lost:.1f} GPU-hours"
            for row in summary.recurring[:most]
        ]
    return "\n".join(lines) + "\n"


def _line(row: Row, *, cause: bool) -> str:
    counts = str(row.failed) if cause else f"{row.failed}/{row.jobs}"
    hours = f"{row.hours_lost:.1f}" if cause else f"{row.hours_lost:.1f}/{row.hours:.1f}"
    blamed = f"  (blamed by {row.blamed})" if row.blamed else ""
    note = f"  {_clean(row.note)}" if cause else blamed
    return f"{counts:>13}  {hours:>20}  {_clean(row.name)}{note}"


def _clean(text: str) -> str:
    from triage.text import safe

    return safe(text, 160)
