"""A rank that does not say who it is may be named by others: its watchdog thread, the peers of its node."""

from __future__ import annotations

from triage import Engine, Source

ECC = """Traceback (most recent call last):
  File "/workspace/train.py", line 12, in <module>
    loss.backward()
RuntimeError: CUDA error: uncorrectable ECC error encountered
[E ProcessGroupNCCL.cpp:916] [Rank {rank}] NCCL watchdog thread terminated with exception: CUDA error: {what}
"""
FAULT = "[node7:4{pid}:0:4{pid}] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x17)\n"
LEFT = "node7:41{gpu}:99{gpu} [{gpu}] NCCL INFO [Service thread] Connection closed by localRank {left}\n"


def test_a_watchdog_thread_that_says_the_same_names_the_rank(engine: Engine) -> None:
    log = ECC.format(rank=5, what="uncorrectable ECC error encountered")
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-hardware", 5)


def test_the_local_rank_that_all_peers_saw_go_is_the_one_that_crashed(engine: Engine) -> None:
    log = FAULT.format(pid=17) + "".join(LEFT.format(gpu=g, left=3) for g in (0, 1, 2))
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 3)


def test_peers_that_leave_each_other_name_nobody(engine: Engine) -> None:
    log = FAULT.format(pid=17) + "".join(LEFT.format(gpu=g, left=(g + 1) % 4) for g in range(4))
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_a_year_counts_where_its_days_are_those_of_the_other_clocks(engine: Engine) -> None:
    text = (
        "2019-06-01 00:00:00,000 - INFO - step 3 | loss 2.1\n2019-06-01 00:00:01,000 - INFO - step 4 | loss 2.0\n"
        "[rank1]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=19, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=12000) ran for 12015 "
        "milliseconds before timing out.\n2026-11-21 10:02:12,000 - INFO - step 7 | loss 1.9\n"
    )
    root = engine.diagnose(Source("job.err", data=text.encode())).root_cause
    assert root is not None
    assert (root.origin.time or "").startswith("2026-11-21")


def test_another_witness_of_the_same_thing_is_shown_before_what_came_of_it(engine: Engine) -> None:
    log = (
        "RuntimeError: DataLoader worker (pid 7714) is killed by signal: Killed. \n"
        "RuntimeError: DataLoader worker (pid(s) 7714) exited unexpectedly\n"
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=9.0 cgroup. Some of your processes"
        " may have been killed by the cgroup out-of-memory handler.\n"
        "srun: error: g1: task 0: Out Of Memory\n"
    )
    cause = engine.diagnose(log.encode()).root_cause
    assert cause is not None
    assert cause.category == "host-oom"
    shown = "\n".join(e.text for e in cause.evidence)
    assert "task 0: Out Of Memory" in shown
    assert "Detected 1 oom-kill" in shown
