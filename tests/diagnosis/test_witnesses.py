"""A rank that does not say who it is may be named by others: its watchdog thread, the peers of its node."""

from __future__ import annotations

from triage import Engine

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
