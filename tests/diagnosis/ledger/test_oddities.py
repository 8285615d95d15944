"""What one rank alone said before all came to wait tells where to look."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

STAMP = "2026-11-21 12:56:{s:02d},100"


def step(rank: int, n: int) -> str:
    """A training step as a rank's logger prints it."""
    return f"{rank}: {STAMP.format(s=n)} - rank{rank} - train - INFO: step={n} loss=0.01{n:02d} lr=3.00e-04\n"


def wait(
    rank: int,
    *,
    group: str = "0(default_pg)",
    inside: int | None = None,
    seq: int = 41,
    op: str = "ALLREDUCE",
) -> str:
    """The watchdog's lines of a rank whose collective timed out."""
    inside = rank if inside is None else inside
    return (
        f"{rank}: [rank{rank}]:[E1121 12:57:09.387106068 ProcessGroupNCCL.cpp:689] [Rank {inside}] Watchdog caught collective "
        f"operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn=512, NumelOut=512, Timeout(ms)=14000) ran for "
        "14021 milliseconds before timing out.\n"
        f"{rank}: [rank{rank}]:[E1121 12:57:09.387245409 ProcessGroupNCCL.cpp:2303] [PG ID {1 if inside != rank else 0} "
        f"PG GUID {group} Rank {inside}]  failure detected by watchdog at work sequence id: {seq} PG status: last enqueued "
        f"work: {seq + 2}, last completed work: {seq - 1}\n"
    )


STEPS = "".join(step(rank, n) for n in range(20) for rank in range(4))
WAITS = "".join(wait(rank) for rank in range(4))
SAID = f"2: {STAMP.format(s=20)} - rank2 - train - INFO: no tokens were routed here, dispatch left out\n"


def told(engine: Engine, text: str) -> Diagnosis:
    return engine.diagnose(Source(name="job.err", data=text.encode()))


def test_the_rank_that_said_what_nobody_else_did(engine: Engine) -> None:
    root = told(engine, STEPS + SAID + WAITS).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("collective-desync", 2)
    assert root.confidence <= 0.6
    assert any("dispatch left out" in e.text for e in root.evidence[:2])


@pytest.mark.parametrize(
    "others",
    [
        SAID.replace("2:", "3:").replace("rank2", "rank3"),  # two said it
        f"1: {STAMP.format(s=20)} - rank1 - train - INFO: something else was said here\n",
    ],
)
def test_several_that_go_their_own_ways_blame_nobody(engine: Engine, others: str) -> None:
    root = told(engine, STEPS + SAID + others + WAITS).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_a_rank_that_does_all_the_talking_is_not_suspect(engine: Engine) -> None:
    alone = "".join(step(0, n) for n in range(20))
    root = told(engine, alone + SAID.replace("2:", "0:").replace("rank2", "rank0") + WAITS).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_the_last_line_of_the_rank_to_blame_is_shown(engine: Engine) -> None:
    reading = "".join(
        f"{rank}: {STAMP.format(s=n)} - rank{rank} - data - INFO: reading part {n} of the corpus\n"
        for n in range(20)
        for rank in range(4)
    )
    last = f"1: {STAMP.format(s=20)} - rank1 - data - INFO: reading part 20 of the corpus\n"
    root = told(engine, reading + last + "".join(wait(rank) for rank in (0, 2, 3))).root_cause
    assert root is not None
    assert root.origin.rank == 1
    assert any("reading part 20" in e.text for e in root.evidence)


def test_two_that_differ_in_a_group_of_theirs(engine: Engine) -> None:
    log = STEPS + wait(0) + wait(1)
    log += wait(2, group="6bedd976", inside=0, seq=126, op="_ALLGATHER_BASE") + wait(
        3, group="6bedd976", inside=1, seq=126
    )
    assert (root := told(engine, log).root_cause) is not None
    assert (root.category, root.origin.rank) == ("collective-desync", None)
    said = SAID.replace("2:", "3:").replace("rank2", "rank3")
    assert (root := told(engine, log.replace(STEPS, STEPS + said)).root_cause) is not None
    assert (root.category, root.origin.rank) == ("collective-desync", 3)


def test_a_missing_rank_that_left_work_out_took_another_path(engine: Engine) -> None:
    said = f"1: {STAMP.format(s=20)} - rank1 - train - INFO: all samples were filtered out of this batch\n"
    log = "rank 0 of 4 ready\n" + STEPS + said + "".join(wait(rank) for rank in (0, 2, 3))
    root = told(engine, log).root_cause
    assert root is not None
    assert (root.rule_id, root.category, root.origin.rank) == ("ledger.skipped-batch", "collective-desync", 1)


SETUP = "".join(
    f"{rank}: {STAMP.format(s=1)} - rank{rank} - data - INFO: shard holds {31 if rank == 2 else 32} batches of 16\n"
    for rank in range(4)
)


def test_the_rank_that_counts_otherwise_than_all_others(engine: Engine) -> None:
    root = told(engine, SETUP + STEPS + WAITS).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.own-way", 2)
    assert "31 batches" in root.summary


def test_a_missing_rank_that_counts_otherwise(engine: Engine) -> None:
    root = told(engine, "rank 0 of 4 ready\n" + SETUP + STEPS + wait(0) + wait(1) + wait(3)).root_cause
    assert root is not None
    assert (root.rule_id, root.category, root.origin.rank) == ("ledger.other-path", "collective-desync", 2)
    assert root.confidence > 0.7


@pytest.mark.parametrize(
    "setup",
    [
        SETUP.replace("31", "32"),
        SETUP.replace("shard holds 32", "shard holds 33", 1),  # two differ, each in its own way
        "".join(f"{r}: {STAMP.format(s=1)} - rank{r} - data - INFO: uses device cuda:{r} of port {2950 + r}\n" for r in range(4)),
    ],
)  # fmt: skip
def test_numbers_that_tell_nobody_apart(engine: Engine, setup: str) -> None:
    root = told(engine, setup + STEPS + WAITS).root_cause
    assert root is not None
    assert root.origin.rank is None


def test_a_rank_that_lacks_what_all_others_say(engine: Engine) -> None:
    def said(rank: int, words: str) -> str:
        return f"{rank}: {STAMP.format(s=1)} - rank{rank} - data - INFO: {words}\n"

    setup = said(0, "waiting for the vocabulary") + said(1, "waiting for the vocabulary")
    setup += said(2, "waiting for the vocabulary") + said(3, "vocabulary was read from the cache")
    root = told(engine, setup + STEPS + WAITS).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.own-way", 3)


def test_ranks_that_lost_a_peer_elsewhere_never_began_what_the_others_wait_in(engine: Engine) -> None:
    def lost(rank: int) -> str:
        return (
            f"{rank}: [rank{rank}]:[E1121 12:57:09.562692551 ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
            "Received a dump signal due to a collective timeout from  rank 1 and we will try our best to dump the debug info. "
            "Last enqueued NCCL work: 40, last completed NCCL work: 40.\n"
            f"{rank}: [rank{rank}]: Traceback (most recent call last):\n"
            f'{rank}: [rank{rank}]:   File "/work/run.py", line 7, in main\n{rank}: [rank{rank}]:     dist.gather(x, group=cpu)\n'
            f"{rank}: [rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by "
            "peer [10.0.0.7]:57000\n"
        )

    log = "rank 0 of 4 ready\n" + "".join(wait(rank) for rank in (1, 2, 3)) + lost(0)
    root = told(engine, log).root_cause
    assert root is not None
    assert root.origin.rank == 0
