"""All ranks wait, each for one that waits in another group."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source

LINE = "[rank{rank}]:[E1121 10:03:11.{rank:02d}9789736 ProcessGroupNCCL.cpp:{at}] "
DEFAULT = "0(default_pg)"


def wait(rank: int, seq: int, op: str, numel: int, guid: str = DEFAULT, number: int | None = None) -> str:
    """A timeout of a rank and how far its group had come, as torch 2.6 and later say it."""
    number = rank if number is None else number
    return (
        f"{LINE}[Rank {number}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, "
        f"NumelIn={numel}, NumelOut={numel}, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n"
    ).format(rank=rank, at=685) + (
        f"{LINE}[PG ID {0 if guid == DEFAULT else 1} PG GUID {guid} Rank {number}]  failure detected by watchdog at work "
        f"sequence id: {seq} PG status: last enqueued work: {seq}, last completed work: {seq - 1}\n"
    ).format(rank=rank, at=2252)


def root_of(engine: Engine, log: str) -> Hypothesis:
    """The root cause of a job by the one log of all its ranks."""
    steps = "".join(f"[rank{r}]: step {s} loss 2.{s}\n" for s in (1, 2, 3) for r in range(8))
    cause = engine.diagnose(Source("job.log", data=(steps + log).encode())).root_cause
    assert cause is not None
    return cause


def test_who_left_out_the_collective_of_all_waits_alone_in_its_own_group(engine: Engine) -> None:
    log = "".join(wait(r, 41, "ALLREDUCE", 1) for r in range(8) if r != 5)
    cause = root_of(engine, log + wait(5, 96, "ALLREDUCE", 4096, "7(mesh_tp)", 1))
    assert (cause.rule_id, cause.category, cause.origin.rank) == ("ledger.entangled", "collective-desync", 5)
    assert "group mesh_tp" in cause.summary


def test_a_member_that_went_past_its_group_is_the_one_that_leads_astray(engine: Engine) -> None:
    log = "".join(wait(r, 96, "ALLREDUCE", 4096, "6(mesh_tp)", r - 4) for r in (4, 5, 7))
    log += "".join(wait(r, 12, "_REDUCE_SCATTER_BASE", 8192, f"{r + 10}(mesh_dp)", 0) for r in (0, 1, 3))
    log += "".join(wait(r, 41, "ALLREDUCE", 1) for r in (2, 6))
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.entangled", 6)


def test_of_two_that_passed_each_other_none_is_named(engine: Engine) -> None:
    log = wait(4, 96, "ALLREDUCE", 4096, "7(mesh_tp)", 0)
    log += wait(6, 12, "_REDUCE_SCATTER_BASE", 8192, "9(mesh_dp)", 1)
    log += "".join(wait(r, 41, "ALLREDUCE", 1) for r in (0, 1, 2, 3, 5, 7))
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.entangled", None)


@pytest.mark.parametrize(
    ("op", "numbers"), [("ALLREDUCE", (0, 1)), ("COALESCED", (0, 1))], ids=["collective", "exchange"]
)
def test_where_a_group_may_be_whole_a_link_may_have_stopped(
    engine: Engine, op: str, numbers: tuple[int, int]
) -> None:
    log = "".join(wait(r, 96, op, 4096, "7(mesh)", n) for r, n in zip((4, 5), numbers, strict=True))
    log += "".join(wait(r, 41, "ALLREDUCE", 1) for r in (0, 1, 2, 3, 6, 7))
    cause = root_of(engine, log)
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", None)


def old(rank: int, number: int, seq: int, op: str, numel: int) -> str:
    """A timeout as torch 2.1 says it: of no group, with the number that the rank has in it."""
    return (
        f"{rank}: [E ProcessGroupNCCL.cpp:475] [Rank {number}] Watchdog caught collective operation timeout: WorkNCCL("
        f"SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=600000) ran for 600031 milliseconds "
        "before timing out.\n"
    )


def old_root(engine: Engine, log: str) -> Hypothesis:
    """The root cause of a job of eight tasks of one log."""
    steps = "".join(f"{r}: step {s} loss 2.{s}\n" for s in (1, 2, 3) for r in range(8))
    cause = engine.diagnose(Source("job.log", data=(steps + log).encode())).root_cause
    assert cause is not None
    return cause


SECOND_HAND = (
    old(4, 0, 96, "ALLREDUCE", 4096)
    + "".join(old(r, 1, 12, "_REDUCE_SCATTER_BASE", 8192) for r in (6, 7))
    + "".join(old(r, r, 41, "ALLREDUCE", 1) for r in (0, 1, 2, 3))
)


def test_numbers_of_other_groups_are_not_compared(engine: Engine) -> None:
    cause = old_root(engine, SECOND_HAND)
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", 5)


def test_without_names_groups_show_in_what_is_waited_for(engine: Engine) -> None:
    log = "".join(old(r, r, 41, "ALLREDUCE", 1) for r in range(8) if r != 5) + old(
        5, 1, 96, "ALLREDUCE", 4096
    )
    cause = old_root(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.entangled", 5)


def test_numbers_that_come_twice_are_no_ranks(engine: Engine) -> None:
    waits = [old(r, r, 9607, "_ALLGATHER_BASE", 8192) for r in (3, 2, 0)]
    waits += [old(r, r, 1202, "ALLREDUCE", 1) for r in (8, 4, 3, 12, 9, 13, 5, 1, 15, 7, 11, 0)]
    bare = "".join(told.partition(": ")[2] for told in waits)
    for line in bare.splitlines():
        head = line.partition("] Watchdog")[0]
        bare += f"{head}] Some NCCL operations have failed or timed out.\n"
        bare += f"{head}] To avoid data inconsistency, we are taking the entire process down.\n"
    cause = engine.diagnose(Source("job.log", data=bare.encode())).root_cause
    assert cause is not None
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", None)
