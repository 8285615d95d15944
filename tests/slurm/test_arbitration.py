"""Logs and accounting contradict each other: which one wins, from real-looking logs through the whole engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triage.engine import Engine
from triage.slurm import sacct_text
from triage.slurm.outcome import rule_of
from triage.slurm.postmortem import PostMortem, examine
from triage.slurm.record import JobRecord, StepRecord

TRACEBACK = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/home/alice/train.py", line 12, in <module>
[rank0]:     main()
[rank0]:   File "/home/alice/train.py", line 8, in main
[rank0]:     raise ValueError("bad batch")
[rank0]: ValueError: bad batch
"""
OOM_EVENT = "slurmstepd: error: Detected 1 oom_kill event in StepId=5.0. Some of the step tasks have been OOM Killed.\n"
CUDA_OOM = (
    "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
    "79.10 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.07 GiB memory in use. Of the "
    "allocated memory 77.10 GiB is allocated by PyTorch, and 101.00 MiB is reserved by PyTorch but unallocated.\n"
)
LIMIT = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-01-01T10:00:00 DUE TO TIME LIMIT ***\n"
CANCELLED = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-01-01T10:00:00 ***\n"
NODES = ("n1", "n2")


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(threads=1)


def job(state: str, **more: Any) -> JobRecord:
    facts: dict[str, Any] = {"uid": 1000, "nodes": NODES, "node_count": 2, "exit_code": 0, "signal": 0}
    return JobRecord(5, **{**facts, "state": state, **more})


def judge(engine: Engine, tmp_path: Path, record: JobRecord, log: str | None) -> PostMortem:
    from dataclasses import replace

    path = tmp_path / "job-5.out"
    if log is not None:
        path.write_text(log)
    return examine(engine, replace(record, stdout=str(path), work_dir=str(tmp_path)))


def test_completed_with_a_survived_traceback(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("COMPLETED"), TRACEBACK)
    assert found.diagnosis.verdict == "healthy"
    assert found.diagnosis.completed is True
    assert found.diagnosis.warnings
    assert "survived" in found.ruling.why


def test_completed_although_a_process_died(engine: Engine, tmp_path: Path) -> None:
    log = TRACEBACK + "srun: error: n1: task 0: Exited with exit code 1\n"
    found = judge(engine, tmp_path, job("COMPLETED"), log)
    assert found.diagnosis.verdict == "failed"
    assert "pipefail" in found.ruling.why


def test_completed_with_a_failed_step(engine: Engine, tmp_path: Path) -> None:
    record = job(
        "COMPLETED",
        steps=(StepRecord("batch", state="COMPLETED"), StepRecord("0", state="FAILED", exit_code=1)),
    )
    found = judge(engine, tmp_path, record, TRACEBACK)
    assert found.diagnosis.root_cause is not None
    assert found.diagnosis.root_cause.category == "user-code"
    assert judge(engine, tmp_path, record, "").diagnosis.root_cause.rule_id == "slurm.step-failed-unnoticed"  # type: ignore[union-attr]


def test_helper_killed_in_a_step_that_survived(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("COMPLETED"), OOM_EVENT)
    assert found.diagnosis.verdict == "healthy"
    assert "helper" in found.ruling.why


def test_out_of_memory_beats_what_follows(engine: Engine, tmp_path: Path) -> None:
    record = job("OUT_OF_MEMORY", signal=125)
    found = judge(engine, tmp_path, record, "srun: error: n1: task 3: Exited with exit code 137\n")
    assert found.diagnosis.root_cause is not None
    assert (found.diagnosis.root_cause.category, found.requeue["retry"]) == ("host-oom", "after-fix")


def test_gpu_memory_is_not_host_memory(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("OUT_OF_MEMORY", signal=125), CUDA_OOM + OOM_EVENT)
    assert found.diagnosis.root_cause is not None
    assert found.diagnosis.root_cause.category in {"gpu-oom", "host-oom"}


def test_published_step_out_of_memory() -> None:
    (record,) = sacct_text.parse((Path(__file__).parent / "data" / "sacct-oom-step.txt").read_text(), "|")
    assert record.state == "FAILED"
    assert rule_of(record) == "slurm.recorded-out-of-memory"


def test_exit_137_is_explained_by_the_log(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("FAILED", exit_code=137), OOM_EVENT)
    assert found.diagnosis.root_cause is not None
    assert found.diagnosis.root_cause.category == "host-oom"
    bare = judge(engine, tmp_path, job("FAILED", exit_code=137), "")
    assert bare.diagnosis.root_cause is not None
    assert bare.diagnosis.root_cause.category == "rank-crash"


def test_time_limit_after_a_failure(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("TIMEOUT"), "2026-01-01 09:00:00 start\n" + TRACEBACK + LIMIT)
    assert found.ruling.winner == "log"
    plain = judge(engine, tmp_path, job("TIMEOUT", limit=3600.0), LIMIT)
    assert plain.diagnosis.root_cause is not None
    assert (plain.diagnosis.root_cause.category, plain.requeue["retry"]) == ("scheduler", "after-fix")


def test_time_limit_hides_a_stall(engine: Engine, tmp_path: Path) -> None:
    import time

    end = 1_767_261_600.0
    stamp = "%Y-%m-%d %H:%M:%S"
    lines = [
        f"{time.strftime(stamp, time.localtime(end - 5000 + 10 * i))} step {i}/1000 loss: 2.{i:02d}\n"
        for i in range(60)
    ]
    record = job("TIMEOUT", end=end, start=end - 5000, limit=5000.0)
    limit = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT {} DUE TO TIME LIMIT ***\n"
    late, early = (
        limit.format(time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(t))) for t in (end, end - 4400)
    )
    for last, rule in ((late, "slurm.stood-still"), ("", "slurm.timeout-after-stall")):
        stalled = judge(engine, tmp_path, record, "".join(lines) + last)
        assert stalled.diagnosis.root_cause is not None
        assert stalled.diagnosis.root_cause.rule_id == rule
    working = judge(
        engine, tmp_path, job("TIMEOUT", end=end - 4400, start=end - 5000), "".join(lines) + early
    )
    assert working.diagnosis.root_cause is not None
    assert working.diagnosis.root_cause.category == "scheduler"


def test_lost_node_beats_the_peers(engine: Engine, tmp_path: Path) -> None:
    log = "[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error\n"
    found = judge(engine, tmp_path, job("NODE_FAIL", failed_node="n2"), log)
    assert found.diagnosis.root_cause is not None
    assert found.diagnosis.root_cause.rule_id == "slurm.recorded-node-fail"
    assert found.requeue["requeue"] is True
    assert found.requeue["exclude_nodes"] == ["n2"]


@pytest.mark.parametrize(
    ("record", "rule", "retry", "requeue"),
    [
        (job("CANCELLED", cancelled_by=1000), "slurm.cancelled-by-its-user", "never", False),
        (job("CANCELLED", cancelled_by=0), "slurm.cancelled-by-another", "unknown", False),
        (job("PREEMPTED"), "slurm.recorded-preempted", "as-is", True),
        (job("PREEMPTED", restarts=5), "slurm.recorded-preempted", "as-is", False),
        (job("BOOT_FAIL"), "slurm.recorded-boot-fail", "other-nodes", True),
        (job("DEADLINE"), "slurm.recorded-deadline", "after-fix", False),
        (job("FAILED", signal=53), "slurm.recorded-launch-failed", "after-fix", False),
        (job("FAILED", reason="JobLaunchFailure", signal=9), "slurm.ended-by-signal", "unknown", False),
        (
            job("PENDING", reason="launch_failed_requeued_held"),
            "slurm.held-after-launch-failures",
            "other-nodes",
            False,
        ),
        (job("FAILED", reason="Prolog"), "slurm.recorded-prolog", "other-nodes", True),
        (job("REQUEUED"), "slurm.requeued-run", "as-is", False),
        (job("FAILED", exit_code=3), "slurm.ended-with-code", "unknown", False),
    ],
)
def test_each_state_without_a_log(
    engine: Engine, tmp_path: Path, record: JobRecord, rule: str, retry: str, requeue: bool
) -> None:
    found = judge(engine, tmp_path, record, None)
    assert found.diagnosis.root_cause is not None
    assert found.diagnosis.root_cause.rule_id == rule
    assert (found.requeue["retry"], found.requeue["requeue"]) == (retry, requeue)


def test_cancelled_after_it_had_failed(engine: Engine, tmp_path: Path) -> None:
    found = judge(engine, tmp_path, job("CANCELLED", cancelled_by=1000), TRACEBACK + CANCELLED)
    assert found.ruling.winner == "log"
    plain = judge(engine, tmp_path, job("CANCELLED", cancelled_by=1000), CANCELLED)
    assert plain.requeue["rule_id"] == "slurm.cancelled-by-its-user"


def test_the_report_is_published_with_its_ruling(engine: Engine, tmp_path: Path) -> None:
    published = judge(engine, tmp_path, job("FAILED", exit_code=1), TRACEBACK).to_dict()
    assert published["slurm"]["ruling"].startswith("the log decides")
    assert published["requeue"]["requeue"] is False
    assert published["root_cause"]["category"] == "user-code"
