"""Waits for the first collective of a group in a job that was at work."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source

WAITS = (
    "[rank{0}]: Traceback (most recent call last):\n"
    '[rank{0}]:   File "/srv/mesh.py", line 69, in <module>\n'
    "[rank{0}]:     dist.barrier()\n"
    "[rank{0}]: torch.distributed.DistBackendError: [{0}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
    "via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 25000ms, keys: /default_pg/0//cuda//0\n"
)
LEAVES = (
    "[rank{0}]:[W1123 21:10:48.442938921 ProcessGroupNCCL.cpp:1575] Warning: WARNING: destroy_process_group() was not called "
    "before program exit, which can leak resources. (function operator())\n"
)
STEPS = "".join(f"[2026-11-23 21:10:4{n},320][0] step {4 * n} loss 1025.{n}\n" for n in range(4))


def cause_of(engine: Engine, log: str) -> Hypothesis:
    """The root cause that ``log`` tells."""
    found = engine.diagnose(Source("mesh.err", data=log.encode())).root_cause
    assert found is not None
    return found


@pytest.mark.parametrize("guilty", [1, 2])
def test_who_else_did_not_come_kept_rank_0_too(engine: Engine, guilty: int) -> None:
    waits = "".join(WAITS.format(rank) for rank in range(1, 6) if rank != guilty)
    cause = cause_of(engine, STEPS + waits)
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", guilty)


def test_rank_0_did_not_come_where_all_others_did(engine: Engine) -> None:
    cause = cause_of(engine, STEPS + "".join(WAITS.format(rank) for rank in range(1, 6)))
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", 0)


def test_before_the_first_step_it_is_the_rendezvous(engine: Engine) -> None:
    cause = cause_of(engine, "".join(WAITS.format(rank) for rank in range(1, 6)))
    assert (cause.category, cause.origin.rank) == ("rendezvous", 0)


def test_who_left_the_interpreter_before_anybody_complained_ended_early(engine: Engine) -> None:
    lost = (
        "[rank{0}]:[E1123 21:11:3{0}.164233975 ProcessGroupNCCL.cpp:612] [Rank {0}] Collective WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
        "NumelIn=64, NumelOut=64, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or "
        "there was a network error, NCCL version 2.28.9\n"
    )
    complaints = "".join(lost.format(rank) for rank in (0, 1, 3))
    cause = cause_of(engine, STEPS + LEAVES.format(2) + complaints)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.finished-early", 2)
    failed = "[rank2]: Traceback (most recent call last):\n[rank2]: IndexError: list index out of range\n"
    assert cause_of(engine, STEPS + failed + LEAVES.format(2) + complaints).category == "user-code"
