"""What a rank said for itself stands with the verdict on it."""

from __future__ import annotations

from triage import Engine, Source

TIMEOUT = (
    "[rank{rank}]:[E1121 15:09:40.000169759 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=600000) ran for "
    "600071 milliseconds before timing out.\n"
)


def shown(engine: Engine, logs: dict[str, str]) -> tuple[int | None, list[str]]:
    root = engine.diagnose([Source(name, data=text.encode()) for name, text in logs.items()]).root_cause
    assert root is not None
    return root.origin.rank, [e.text for e in root.evidence]


def worker(rank: int, rows: int, *, last: str = "", numel: int = 4096) -> str:
    setup = f"rank {rank}: {rows} rows in shard, seed {rank * 7}\n"
    steps = "".join(f"rank {rank}: step {n} loss {2 - n / 100}\n" for n in range(10, 60, 10))
    return setup + steps + last + TIMEOUT.format(rank=rank, seq=61, numel=numel)


def test_a_number_that_all_others_have_otherwise_is_shown(engine: Engine) -> None:
    logs = {f"train.{r}.log": worker(r, 512) for r in (0, 1, 3)}
    logs["train.2.log"] = worker(2, 498, numel=1)
    rank, lines = shown(engine, dict(sorted(logs.items())))
    assert rank == 2
    assert any("498 rows in shard" in line for line in lines)


def test_the_first_line_by_which_a_rank_parted_is_shown(engine: Engine) -> None:
    own = "rank 1: epoch over after 55 batches\nrank 1: validating, batch 0\nrank 1: validating, batch 1\n"
    logs = {"train.0.log": worker(0, 512), "train.1.log": worker(1, 512, last=own, numel=1)}
    _, lines = shown(engine, logs)
    assert any("epoch over after 55 batches" in line for line in lines)


def test_what_all_ranks_say_is_not_shown(engine: Engine) -> None:
    logs = {f"train.{r}.log": worker(r, 512, numel=1 if r == 2 else 4096) for r in range(4)}
    rank, lines = shown(engine, logs)
    assert rank == 2
    assert not any("512 rows" in line for line in lines)


def test_how_far_a_rank_has_come_sets_nobody_apart(engine: Engine) -> None:
    lines = [f"node{r // 4}.{r % 4} | step {50 if r == 2 else 10} loss 1.900" for r in range(8)]
    lines += [
        f"node{r // 4}.{r % 4} | {TIMEOUT.format(rank=r, seq=61, numel=4096).strip()}"
        for r in range(8)
        if r != 5
    ]
    rank, _ = shown(engine, {"job.log": "\n".join(lines) + "\n"})
    assert rank == 5
