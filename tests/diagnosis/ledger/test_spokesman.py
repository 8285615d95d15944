"""What one rank of a server says for all of them tells nothing against it."""

from __future__ import annotations

from triage import Engine, Source

SETUP = (
    "[2025-11-04 10:21:24 TP0] Capture cuda graph bs [1, 2, 4, 8, 16, 24, 32, 40, 48]\n"
    "[2025-11-04 10:21:35 TP0] max_total_num_tokens=412312, chunked_prefill_size=8192, context_len=163840\n"
)
BATCH = (
    "[2025-11-04 10:22:{second} TP0] Decode batch. #running-req: 3, #token: 1131, token usage: 0.03, "
    "gen throughput (token/s): 101.20, #queue-req: 0\n"
)
TIMEOUT = (
    "[rank{rank}]:[E1104 10:32:11.112 ProcessGroupNCCL.cpp:685] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=9812, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600012 milliseconds "
    "before timing out.\n"
)


def verdict(engine: Engine, batches: int) -> tuple[str, int | None]:
    """Rule and rank for a server that hangs after so many batches."""
    loaded = "".join(
        f"[2025-11-04 10:20:00 TP{rank}] Load weight begin. avail mem=77.61 GB\n" for rank in range(4)
    )
    ended = "".join(
        f"[2025-11-04 10:21:2{rank} TP{rank}] Load weight end. avail mem=35.31 GB\n" for rank in range(4)
    )
    told = "".join(BATCH.format(second=10 + i) for i in range(batches))
    waits = "".join(TIMEOUT.format(rank=rank) for rank in range(4))
    root = engine.diagnose(
        Source("server.log", data=(loaded + ended + SETUP + told + waits).encode())
    ).root_cause
    assert root is not None
    return root.category, root.origin.rank


def test_who_reports_the_batches_is_not_to_blame(engine: Engine) -> None:
    assert verdict(engine, 6) == ("straggler-or-hang", None)
