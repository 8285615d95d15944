"""Ranks that wait in several process groups at once: neighbours of a pipeline, sub-groups at odds, a group of all beside them."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source

LINE = "[rank{rank}]:[E1122 21:27:{second:02d}.{rank}36372626 ProcessGroupNCCL.cpp:{at}] "
TIMEOUT = (
    "[Rank {number}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, "
    "NumelOut={numel}, Timeout(ms)=20000) ran for 20031 milliseconds before timing out.\n"
)
STATUS = (
    "[PG ID {index} PG GUID {guid} Rank {number}]  failure detected by watchdog at work sequence id: {seq} "
    "PG status: last enqueued work: {seq}, last completed work: {done}\n"
)
STACK = "Stack trace of the failed collective: \n"


def wait(
    rank: int, seq: int, op: str, numel: int, *, guid: str = "0(default_pg)", number: int | None = None, second: int = 30
) -> str:  # fmt: skip
    """A timeout of a rank, and how far its group had come."""
    number = rank if number is None else number
    told = {"rank": rank, "seq": seq, "op": op, "numel": numel, "guid": guid, "number": number, "second": second,
            "done": seq - 1, "index": 0 if "default" in guid else 1}  # fmt: skip
    return (LINE + TIMEOUT).format(**told, at=689) + (LINE + STATUS).format(**told, at=2303)


def stack(rank: int, *functions: str) -> str:
    """Where a rank called what it waits in, from the innermost call on."""
    frames = [
        f"#{i} {name} from /opt/venv/lib/python3.12/site-packages/framework/loop.py:{90 + i}\n"
        for i, name in enumerate(functions)
    ]
    return (LINE + STACK).format(rank=rank, second=30, at=733) + "".join(frames) + "\n"


def root_of(engine: Engine, *logs: str) -> Hypothesis:
    """The root cause of a job by its logs."""
    cause = engine.diagnose(
        [Source(f"log-{'abc'[i]}.err", data=log.encode()) for i, log in enumerate(logs)]
    ).root_cause
    assert cause is not None
    return cause


def test_neighbours_of_a_pipeline_count_for_themselves(engine: Engine) -> None:
    steps = "".join(f"{r}: [21:27:0{s}] (stage {r}/4) step {s}\n" for s in range(3) for r in range(4))
    log = steps + wait(0, 95, "COALESCED", 0) + wait(1, 179, "COALESCED", 0) + wait(3, 76, "COALESCED", 0)
    cause = root_of(engine, log)
    assert (cause.category, cause.origin.rank) == ("straggler-or-hang", 2)


def test_batches_of_collectives_are_compared(engine: Engine) -> None:
    log = "".join(wait(rank, 12 if rank == 2 else 14, "COALESCED", 0) for rank in range(4))
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.desync", 2)


def test_the_stage_that_counts_otherwise_is_told_by_its_own_log(engine: Engine) -> None:
    logs = [
        f"2026-11-22 21:27:07,73{r} INFO pipeline of 3 stages, {8 if r == 1 else 4} microbatches\n"
        + wait(r, (8, 14, 12)[r], "COALESCED", 0)
        for r in range(3)
    ]
    cause = root_of(engine, *logs)
    assert (cause.category, cause.origin.rank) == ("collective-desync", 1)
    assert "8 microbatches" in cause.summary


def test_a_sub_group_at_odds_is_found_behind_earlier_waits(engine: Engine) -> None:
    log = "".join(
        wait(r, 197, "ALLREDUCE", 8192, guid=f"{7 + r % 2}(DATA)", number=r // 2, second=29)
        for r in (0, 1, 3)
    )
    log += wait(0, 52, "ALLREDUCE", 32768, guid="5(TENSOR)", number=0)
    log += wait(1, 52, "ALLREDUCE", 32768, guid="5(TENSOR)", number=1)
    log += wait(2, 52, "ALLREDUCE", 4, guid="6(TENSOR)", number=0)
    log += wait(3, 52, "ALLREDUCE", 32768, guid="6(TENSOR)", number=1)
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.desync", 2)  # no other group reduces four elements


@pytest.mark.parametrize(
    ("first", "second", "rank"),
    [
        (("barrier", "save_checkpoint", "on_batch_end"), ("broadcast", "advance", "run"), 0),
        (("broadcast", "advance", "run"), ("all_gather", "_gather_state_dict", "run"), 1),
        (("barrier", "save_checkpoint"), ("broadcast", "evaluate"), None),
        (("barrier", "advance"), ("broadcast", "run"), None),
    ],
)
def test_of_two_camps_the_one_beside_its_steps_left_the_path(
    engine: Engine, first: tuple[str, ...], second: tuple[str, ...], rank: int | None
) -> None:
    log = wait(0, 58, "ALLREDUCE", 1) + stack(0, *first) + wait(1, 58, "BROADCAST", 1) + stack(1, *second)
    cause = root_of(engine, log)
    assert (cause.category, cause.origin.rank) == ("collective-desync", rank)


def test_who_waits_for_the_others_in_another_group_did_not_come(engine: Engine) -> None:
    log = "".join(wait(r, 733, "ALLREDUCE", 65536, guid=f"{3 + r % 2}", number=r // 2) for r in (0, 2, 3))
    log += (
        "[rank1]: Traceback (most recent call last):\n"
        '[rank1]:   File "/workspace/hybrid.py", line 18, in check_drift\n'
        "[rank1]:     dist.all_reduce(reference)\n"
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
        "via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 25000ms, keys: /default_pg/0//cuda//0\n"
    )
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.origin.rank) == ("ledger.other-call", 1)
    assert "check_drift" in cause.summary


def test_all_that_are_missing_had_said_that_they_were_through(engine: Engine) -> None:
    log = "".join(f"[default{r}]:[rank{r}]: step {s} of 9\n" for s in (7, 8, 9) for r in range(4))
    log += "[default2]:[rank2]: training finished\n[default3]:[rank3]: training finished\n"
    log += "".join(wait(r, 374, "ALLREDUCE", 260096, guid="3(mesh_tp)", number=r) for r in (0, 1))
    cause = root_of(engine, log)
    assert (cause.rule_id, cause.category) == ("ledger.finished-early", "collective-desync")


@pytest.mark.parametrize(
    ("own", "rank"),
    [
        ("rank:1 gathering loss statistics\n", 1),
        ("rank:1 gathering loss statistics\nrank:0 gathering loss statistics\n", None),  # both did
        ("rank:0 step 150 loss 0.1\nrank:1 step 150 loss 0.1\n", None),
    ],
)
def test_last_words_of_one_of_two(engine: Engine, own: str, rank: int | None) -> None:
    steps = "".join(f"rank:{r} step {s} loss 0.{s}\n" for s in (50, 100) for r in (0, 1))
    cause = root_of(engine, steps + own + wait(0, 177, "ALLREDUCE", 4160) + wait(1, 178, "ALLREDUCE", 4160))
    assert (cause.category, cause.origin.rank) == ("collective-desync", rank)


def test_kernels_that_one_rank_builds_keep_the_others(engine: Engine) -> None:
    begun = "2026-11-22 21:27:05,545 rank 0 INFO building the kernels\n"
    log = begun + "".join(wait(r, 2, "ALLREDUCE", 1) for r in (1, 2, 3))
    cause = root_of(engine, log)
    assert (cause.category, cause.origin.rank) == ("compile-or-graph-capture", 0)


def test_logs_of_nodes_are_not_of_the_one_rank_that_complains(engine: Engine) -> None:
    step = "".join(f"2026-11-22 21:27:0{s},100 INFO step {s} loss 0.{s}\n" for s in range(1, 9))
    first = step + "2026-11-22 21:27:09,100 INFO passing over sample 77 of this part\n"
    cause = root_of(engine, first + wait(1, 41, "ALLREDUCE", 512), step + wait(4, 41, "ALLREDUCE", 512))
    assert cause.origin.rank is None


DUMPS = (
    "[PG ID 0 PG GUID 0(default_pg) Rank {number}] Received a dump signal due to a collective timeout from {whom} and we "
    "will try our best to dump the debug info. Last enqueued NCCL work: {issued}, last completed NCCL work: 561."
    "This is most likely caused by incorrect usages of collectives.\n"
)
GLOO = (
    "[rank{0}]: Traceback (most recent call last):\n"
    '[rank{0}]:   File "/srv/serve/engine.py", line 88, in warm_up\n'
    "[rank{0}]:     dist.barrier(group=cpu_group)\n"
    "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms "
    "for recv operation to complete\n"
)


@pytest.mark.parametrize(("issued", "origin"), [((561, 568, 561), 6), ((566, 568, 561), None)])
def test_who_alone_issued_more_is_told_by_what_watchdogs_say_when_they_dump(
    engine: Engine, issued: tuple[int, int, int], origin: int | None
) -> None:
    said = zip((2, 6, 0), issued, ("rank 6", "this local rank", "rank 6"), strict=True)
    dumps = "".join(
        LINE.format(rank=rank, second=40, at=1987) + DUMPS.format(number=rank, whom=whom, issued=number)
        for rank, number, whom in said
    )
    log = GLOO.format(3) + GLOO.format(4) + dumps
    root = engine.diagnose(Source("serve.log", data=log.encode())).root_cause
    assert root is not None
    assert root.origin.rank == origin
    assert (root.category == "collective-desync") is (origin is not None)
