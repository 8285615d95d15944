"""What one rank says of all: a desync report from the store, and fingerprints that are compared from rank 0 on."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

HEAD = "[rank2]:[E1115 16:42:37.784743622 ProcessGroupNCCL.cpp:1936] Rank 2\n\t - [2] Timeout at collective: ALLREDUCE, #730\n"
LAGGING = (
    "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
    "\t   - [{there}] joined but didn't finish collective #730 (count from 1)\n{late}"
    "\t - Snapshot of ranks' latest states:\n\t   #730 started ranks:\n"
)
STATUS = (
    "[rank2]:[E1115 16:42:37.784748592 ProcessGroupNCCL.cpp:2168] [PG ID 0 PG GUID 0(default_pg) Rank 2]  failure detected by "
    "watchdog at work sequence id: 730 PG status: last enqueued work: 730, last completed work: 729\n"
)


def cause(engine: Engine, text: str) -> Hypothesis:
    """The root cause of one log."""
    root = engine.diagnose([Source("job.log", data=text.encode())]).root_cause
    assert root is not None
    return root


def report(there: str, *started: str, late: str = "") -> str:
    """A desync report of rank 2."""
    lines = "".join(f"\t     {line}\n" for line in started)
    return HEAD + LAGGING.format(there=there, late=late) + lines + STATUS


def test_all_that_joined_and_did_not_finish_are_inside(engine: Engine) -> None:
    root = cause(engine, report("0, 1, 2, 3", "[0, 1, 2, 3] started ALLREDUCE"))
    assert (root.rule_id, root.origin.rank) == ("ledger.all-inside", None)


def test_who_started_another_operation_left_the_common_path(engine: Engine) -> None:
    root = cause(engine, report("0, 1, 2, 3", "[0, 2, 3] started ALLREDUCE", "[1] started BROADCAST"))
    assert (root.category, root.origin.rank) == ("collective-desync", 1)


def test_who_did_not_join_is_late(engine: Engine) -> None:
    late = "\t     [3] finished collective #729, but didn't join collective #730 (count from 1)\n"
    root = cause(engine, report("0, 1, 2", "[0, 1, 2] started ALLREDUCE", late=late))
    assert (root.rule_id, root.origin.rank) == ("ledger.named-lagging", 3)


@pytest.mark.parametrize(
    ("speaker", "other", "size", "rank"),
    [
        (1, 7, 8, 7),  # ranks 0 to 6 had said the same as rank 1
        (1, 3, 16, None),  # those behind rank 3 may all be with it
        (3, 0, 8, None),  # rank 0 is the first that is looked at
    ],
)
def test_fingerprints_are_compared_from_rank_0_on(
    engine: Engine, speaker: int, other: int, size: int, rank: int | None
) -> None:
    text = (
        f"[rank{speaker}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {speaker} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=101, OpType=ALLGATHER, TensorShape=[1], TensorDtypes=Long, "
        f"TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda)), but Rank {other} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).\n"
    )
    root = cause(
        engine,
        f"[rank0]: world_size={size}\n{text}"
        if size != 8
        else text.replace("[rank", "world_size=8\n[rank", 1),
    )
    assert (root.category, root.origin.rank) == ("collective-desync", rank)
