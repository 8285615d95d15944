"""What the rank that is missing said last that it had set out to do."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source

_STEPS = "".join(
    f"2026-10-02 08:00:{step:02d} INFO [rank{rank}] epoch 3 step {step} loss 2.31\n"
    for step in (10, 20, 30)
    for rank in range(4)
)


def _gave_up(rank: int) -> str:
    head = f"[rank{rank}]:[E1002 08:10:3{rank}.120401736 ProcessGroupNCCL.cpp:685] [Rank {rank}]"
    return (
        f"{head} Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8123, OpType=ALLREDUCE, "
        "NumelIn=26214400, NumelOut=26214400, Timeout(ms)=600000) ran for 600040 milliseconds before timing out.\n"
    )


def _cause(engine: Engine, last: str, others: str = "") -> Hypothesis:
    """The cause where rank 2 says ``last`` and the others, who may say the same, time out."""
    said = f"2026-10-02 08:00:31 INFO [rank2] {last}\n"
    said += "".join(f"2026-10-02 08:00:31 INFO [rank{rank}] {others}\n" for rank in (0, 1, 3) if others)
    text = (
        "2026-10-02 08:00:00 INFO [rank0] world size 4\n" + _STEPS + said + "".join(map(_gave_up, (0, 1, 3)))
    )
    root = engine.diagnose([Source("train.log", data=text.encode())]).root_cause
    assert root is not None
    assert root.origin.rank == 2
    return root


@pytest.mark.parametrize(
    ("last", "category"),
    [
        ("writing checkpoint shard to /ckpt/step_00400", "checkpoint"),
        ("uploading snapshot to s3://bucket/run", "checkpoint"),
        ("flushing optimizer shard", "checkpoint"),
        ("slow read of shard-000317.tar (60.0 s), retrying", "data-loading"),
        ("tokenizing 120000 documents", "data-loading"),
        ("waiting for the next batch", "data-loading"),
        ("recompiling: shape (4, 2048) is new", "compile-or-graph-capture"),
        ("capturing CUDA graph for batch size 8", "compile-or-graph-capture"),
        ("saved checkpoint to /ckpt/step_00400", "straggler-or-hang"),
        ("data loaded in 3 s", "straggler-or-hang"),
        ("acquiring the lock of the run", "straggler-or-hang"),
    ],
)
def test_last_words_tell_what_never_returned(engine: Engine, last: str, category: str) -> None:
    assert _cause(engine, last).category == category


def test_its_last_words_are_quoted_and_shown(engine: Engine) -> None:
    root = _cause(engine, "flushing optimizer shard")
    assert '"flushing optimizer shard"' in root.summary
    assert any("flushing optimizer shard" in piece.text for piece in root.evidence)


def test_what_all_said_last_tells_nothing_of_one(engine: Engine) -> None:
    root = _cause(engine, "fetching batch 31", others="fetching batch 31")
    assert root.category == "straggler-or-hang"


def test_a_barrier_that_names_the_rank_leaves_the_reason_to_its_words(engine: Engine) -> None:
    lines = [
        "2026-10-02 08:00:31 INFO [rank1] reading shard /data/train-00017.parquet",
        "[rank0]: RuntimeError: Rank 1 failed to pass monitoredBarrier in 8000 ms",
    ]
    text = _STEPS + "\n".join(lines) + "\n"
    root = engine.diagnose([Source("train.log", data=text.encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("data-loading", 1)


@pytest.mark.parametrize(
    ("later", "category"),
    [
        ("compiled model", "watchdog-too-short"),
        ("finished compiling after 11m40s", "watchdog-too-short"),
        ("epoch 3 step 40 loss 2.30", "watchdog-too-short"),
        ("heartbeat: alive", "compile-or-graph-capture"),
    ],
)
def test_who_is_through_after_the_others_gave_up_was_only_slow(
    engine: Engine, later: str, category: str
) -> None:
    own = [f"2026-10-02 08:00:{s} INFO [rank2] epoch 3 step {s} loss 2.31" for s in (10, 20, 30)]
    own += ["2026-10-02 08:00:31 INFO [rank2] compiling model", f"2026-10-02 08:12:50 INFO [rank2] {later}"]
    files = [Source("rank2.log", data="\n".join(own).encode() + b"\n", rank=2)]
    for rank in (0, 1, 3):
        steps = "".join(line + "\n" for line in _STEPS.splitlines() if f"[rank{rank}]" in line)
        files.append(Source(f"rank{rank}.log", data=(steps + _gave_up(rank)).encode(), rank=rank))
    root = engine.diagnose(files).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, 2)


def test_a_farewell_that_stands_below_the_timeouts_was_said_when_its_clock_says(engine: Engine) -> None:
    """Standard output is written when its buffer is full, or when the process ends."""
    last = "2026-10-02 08:00:32 INFO [rank2] training finished after 30 steps\n"
    text = (
        "2026-10-02 08:00:00 INFO [rank0] world size 4\n" + _STEPS + "".join(map(_gave_up, (0, 1, 3))) + last
    )
    root = engine.diagnose([Source("train.log", data=text.encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("collective-desync", 2)
