"""What ranks count as they go tells who is at work and who is ahead of the others."""

from __future__ import annotations

from triage import Engine, Source

TIMEOUT = (
    "[rank{rank}]:[E1121 07:{at} ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=12000) ran for 12045 milliseconds before "
    "timing out.\n"
)
WORK = "2026-11-21 07:{at},094 INFO [rank 0] segment {reached}/9 merged, 41 MB\n"


def timeouts(*ranks: int) -> str:
    return "".join(TIMEOUT.format(rank=rank, at="24:17.183912") for rank in ranks)


def test_a_rank_that_counts_on_after_the_others_gave_up_was_at_work(engine: Engine) -> None:
    begun = "".join(WORK.format(at=f"24:0{k}", reached=k) for k in (1, 2, 3))
    after = "".join(WORK.format(at=f"24:{20 + k}", reached=k) for k in (4, 5, 6))
    for log in (begun + timeouts(1, 2, 3) + after, timeouts(1, 2, 3) + after):
        root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("watchdog-too-short", 0)


def test_a_count_that_stopped_before_is_no_proof_of_work(engine: Engine) -> None:
    begun = "".join(WORK.format(at=f"23:0{k}", reached=k) for k in (1, 2, 3))
    root = engine.diagnose(Source("job.err", data=(begun + timeouts(1, 2, 3)).encode())).root_cause
    assert root is not None
    assert root.category != "watchdog-too-short"
    assert root.origin.rank == 0


def step(rank: int, number: int) -> str:
    return f"[default{rank}]:[{rank}] step {number} contrast 0.08{rank} cached 3\n"


def test_a_rank_that_is_ahead_of_those_that_wait_for_it_left_something_out(engine: Engine) -> None:
    together = "".join(step(rank, number) for number in (0, 4, 8) for rank in range(4))
    waits = "".join(f"[default{r}]:" + TIMEOUT.format(rank=r, at="24:17.183912") for r in (0, 1, 3))
    for more, category in (("", "straggler-or-hang"), (step(2, 12), "collective-desync")):
        root = engine.diagnose(Source("job.err", data=(together + more + waits).encode())).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == (category, 2)


def test_work_counted_for_longer_than_the_wait_at_the_store_outlasted_it(engine: Engine) -> None:
    work = "".join(f"resampling: {k * 4000}/12000 clips, {k * 9}s\n" for k in (1, 2, 3))
    wait = "rank {0} waits\n[rank{0}]: torch.distributed.DistStoreError: wait timeout after 12000ms, keys: /clips/ready\n"
    texts = [work, wait.format(1), wait.format(2)]
    logs = [Source(f"audio_rank{n}.log", data=text.encode()) for n, text in enumerate(texts)]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("watchdog-too-short", 0)
    assert "not done" not in root.summary


def test_an_evaluation_that_one_rank_counted_for_longer_than_the_others_waited(engine: Engine) -> None:
    wait = (
        "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting "
        "15000ms for recv operation to complete\n"
    )
    lines = [f"2026-11-23 06:52:{13 + 3 * k} eval: {5 * k}/40 batches\n" for k in range(1, 9)]
    others = [Source(f"log_rank_{r}.txt", data=wait.format(r).encode(), rank=r) for r in (1, 2, 3)]
    for many, category in ((8, "watchdog-too-short"), (4, "straggler-or-hang")):
        mine = "2026-11-23 06:52:11 starting evaluation on rank 0\n" + "".join(lines[:many])
        root = engine.diagnose([Source("log_rank_0.txt", data=mine.encode(), rank=0), *others]).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == (category, 0)
