"""What a missing rank was doing while the others waited for it, and what differs between ranks."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source


def waits(rank: int) -> str:
    """What the watchdog of a rank prints."""
    head = f"[rank{rank}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp"
    return (
        f"{head}:689] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=17, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=12000) ran for 12015 milliseconds before timing out.\n"
        f"{head}:2303] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by watchdog at work sequence "
        "id: 17 PG status: last enqueued work: 17, last completed work: 16\n"
    )


def missing(engine: Engine, *lines: str) -> Hypothesis:
    """The cause where rank 0 prints ``lines`` and the others time out."""
    sources = [Source("rank0.log", data="\n".join(lines).encode() + b"\n", rank=0)]
    sources += [Source(f"rank{rank}.log", data=waits(rank).encode(), rank=rank) for rank in (1, 2, 3)]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert root.origin.ranks == (0,)
    return root


@pytest.mark.parametrize(
    ("line", "rule", "category"),
    [
        ("rank 0: saving shard to /ckpt/shard_0.pt", "ledger.checkpoint-never-returned", "checkpoint"),
        (
            "rank 0: autotuning 48 configurations for shape (32, 640)", "ledger.compile-never-returned",
            "compile-or-graph-capture",
        ),
        (
            "INFO:megatron.core.datasets.gpt_dataset:Build and save the GPTDataset train indices",
            "ledger.data-never-returned", "data-loading",
        ),
        ("Evaluating: 12/60 batches, accuracy 0.555", "ledger.activity-never-returned", "straggler-or-hang"),
    ],
)  # fmt: skip
def test_an_activity_that_was_begun_is_named(engine: Engine, line: str, rule: str, category: str) -> None:
    found = missing(engine, "step 10 loss 0.5", line)
    assert (found.rule_id, found.category) == (rule, category)


def test_an_evaluation_that_steps_follow_is_over(engine: Engine) -> None:
    found = missing(engine, "Evaluating: 59/60 batches", "step 10 loss 0.5", "step 11 loss 0.5")
    assert found.rule_id == "ledger.never-entered-silent"


SAVING = "Saving model checkpoint to /out/run/checkpoint-500\n"
STEP = "{'loss': 1.31, 'grad_norm': 0.91, 'learning_rate': 1.9e-05, 'epoch': 0.4}\n"


@pytest.mark.parametrize(
    ("said", "waiting", "rule"),
    [
        (SAVING, (1, 2, 3), "ledger.checkpoint-never-returned"),
        (SAVING + STEP, (1, 2, 3), "ledger.never-entered-silent"),
        (SAVING * 4, (1, 2, 3), "ledger.never-entered-silent"),
        (SAVING, (0, 1, 3), "ledger.never-entered-silent"),
    ],
    ids=["rank 0 said it for all", "it went on", "all ranks said it", "another rank is missing"],
)
def test_what_stands_without_a_name_the_first_rank_said(
    engine: Engine, said: str, waiting: tuple[int, ...], rule: str
) -> None:
    text = STEP + said + "".join(waits(rank) for rank in waiting)
    root = engine.diagnose(Source("job.log", data=text.encode())).root_cause
    assert root is not None
    assert root.rule_id == rule


def test_an_evaluation_that_goes_on_after_the_timeouts_was_only_slow(engine: Engine) -> None:
    text = "".join(
        [
            "[rank0]: Evaluating: 1/60 batches\n",
            *(waits(r) for r in (1, 2, 3)),
            "[rank0]: Evaluating: 40/60 batches\n",
        ]
    )
    root = engine.diagnose(Source("job.log", data=text.encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.ranks) == ("ledger.timeout-too-short", (0,))


def fingerprint(rank: int, other: int, mine: str, theirs: str) -> str:
    """What TORCH_DISTRIBUTED_DEBUG=DETAIL raises on ``rank``."""
    options = (
        "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )
    print_of = "CollectiveFingerPrint(SequenceNumber=20, OpType=ALLREDUCE, "
    return (
        f"[rank{rank}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {rank} is running "
        f"collective: {print_of}{mine}, {options}), but Rank {other} is running collective: "
        f"{print_of}{theirs}, {options}).Collectives differ in the following aspects:\n"
    )


@pytest.mark.parametrize(
    ("odd", "usual", "words"),
    [
        (
            "TensorShape=[4, 640], TensorDtypes=Float", "TensorShape=[4, 512], TensorDtypes=Float",
            "ALLREDUCE of [4, 640] (sequence 20) while the others ran ALLREDUCE of [4, 512] (sequence 20): its tensor "
            "has another shape",
        ),
        (
            "TensorShape=[8], TensorDtypes=Double", "TensorShape=[8], TensorDtypes=Float",
            "ALLREDUCE of Double (sequence 20) while the others ran ALLREDUCE of Float (sequence 20): its tensor has "
            "another type",
        ),
    ],
)  # fmt: skip
def test_a_mismatch_says_what_differs(engine: Engine, odd: str, usual: str, words: str) -> None:
    text = fingerprint(1, 0, odd, usual) + "".join(fingerprint(r, 1, usual, odd) for r in (0, 2, 3))
    root = engine.diagnose(Source("job.err", data=text.encode())).root_cause
    assert root is not None
    assert root.origin.ranks == (1,)
    assert words in root.summary
