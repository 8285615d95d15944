"""The tables of a period: denominators, blame, what keeps coming up, and what was wanted."""

from __future__ import annotations

from typing import Any

import pytest

from triage.cli.slurm_sweep import enqueue, period
from triage.errors import UsageError
from triage.slurm.record import JobRecord
from triage.slurm.results import Result
from triage.slurm.spool import Spool
from triage.slurm.sweep import is_failure, summarise, table


def run(job_id: int, node: str = "n1", state: str = "FAILED", hours: float = 1.0, **more: Any) -> JobRecord:
    facts: dict[str, Any] = {"user": "alice", "uid": 1000, **more}
    return JobRecord(
        job_id,
        state=state,
        nodes=(node,),
        elapsed=hours * 3600,
        tres={"gres/gpu": 8},
        start=float(job_id),
        **facts,
    )


def result(job: JobRecord, category: str = "gpu-hardware", rule: str = "gpu.xid", **origin: Any) -> Result:
    where = {"node": None, "rank": None, "gpu": None, "gpu_uuid": None, **origin}
    decision = {
        "verdict": "failed", "category": category, "rule_id": rule, "title": "title", "exclude_nodes": [], "origin": where
    }  # fmt: skip
    return Result(job, decision, "f")


def test_tables() -> None:
    runs = [
        run(1),
        run(2),
        run(3, "n2", "COMPLETED", 4.0),
        run(4, "n2", user="bob"),
        run(5, "n1", "COMPLETED", 2.0),
    ]
    results = [
        result(runs[0], node="n1", gpu=3), result(runs[1], node="n1", gpu=3), result(runs[3], "user-code", "unknown.user-code")
    ]  # fmt: skip
    found = summarise(runs, results)
    assert (found.runs, found.failed) == (5, 3)
    assert (found.hours, found.hours_lost) == (72.0, 24.0)
    assert [(r.name, r.failed, r.hours_lost) for r in found.causes] == [
        ("gpu.xid", 2, 16.0),
        ("unknown.user-code", 1, 8.0),
    ]
    assert [(r.name, r.failed, r.jobs) for r in found.users] == [("alice", 2, 4), ("bob", 1, 1)]
    assert [(r.name, r.failed, r.jobs, r.blamed, r.hours) for r in found.nodes] == [
        ("n1", 2, 3, 2, 32.0), ("n2", 1, 2, 0, 40.0)
    ]  # fmt: skip
    assert [r.name for r in found.recurring] == ["n1", "n1 GPU 3"]
    text = table(found)
    assert "24.0 of 72.0 GPU-hours lost (33%)" in text
    assert "n1 GPU 3: 2 jobs failed because of it" in text


def test_tasks_of_one_array_are_one_witness() -> None:
    runs = [run(i, array_job_id=9, array_task_id=i) for i in (1, 2, 3)]
    found = summarise(runs, [result(r, node="n1") for r in runs])
    assert found.nodes[0].blamed == 1


def test_a_wanted_end_is_no_loss() -> None:
    runs = [run(1, state="CANCELLED")]
    found = summarise(runs, [result(runs[0], "scheduler", "slurm.cancelled-by-its-user")])
    assert (found.failed, found.hours_lost) == (0, 0.0)
    assert found.causes[0].failed == 1


def test_a_hostile_name_cannot_drive_the_terminal() -> None:
    runs = [run(1, user="a\x1b[31m\nb")]
    assert "\x1b" not in table(summarise(runs, [result(runs[0])]))


def test_what_counts_as_failure() -> None:
    assert is_failure(run(1))
    assert not is_failure(run(1, state="COMPLETED"))
    assert not is_failure(run(1, state="RUNNING"))
    assert is_failure(run(1, state="COMPLETED", exit_code=0, signal=0, derived_exit_code=1))


def test_missed_jobs_are_queued_once(tmp_path: Any) -> None:
    spool = Spool(tmp_path)
    spool.prepare()
    (spool.decisions / "1.json").write_text("{}")
    assert enqueue(spool, [run(1), run(2)]) == 1
    assert [n for n, _ in spool.waiting()] == ["job-2-2-sweep"]


def test_periods() -> None:
    assert [period(t) for t in ("90m", "24h", "7d")] == [5400.0, 86400.0, 604800.0]
    with pytest.raises(UsageError, match="no period"):
        period("soon")
