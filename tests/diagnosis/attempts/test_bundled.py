"""Several logs in one: each part is what the heading above it says."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

LOST = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/train.py", line 30, in step\n'
    "    dist.all_reduce(loss)\n"
    "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3690, "
    "remote process exited or there was a network error, NCCL version 2.27.3\n"
)
RAISED = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/train.py", line 18, in step\n'
    '    gold = row["answer"]\n'
    "KeyError: 'answer'\n"
)


def composer(said: dict[int, str], first: int) -> str:
    """What Composer's launcher prints: who crashed first, then the output of all that crashed, by rank."""
    text = f"ERROR:composer.cli.launcher:Rank {first} crashed with exit code 1.\n"
    for rank, words in said.items():
        text += (
            f"Global rank {rank} (PID {400 + rank}) exited with code 1\n"
            f"----------Begin global rank {rank} STDOUT----------\nbatch 7 of 90\n"
            f"----------End global rank {rank} STDOUT----------\n"
            f"----------Begin global rank {rank} STDERR----------\n{words}"
            f"----------End global rank {rank} STDERR----------\n"
        )
    return (
        text
        + f"ERROR:composer.cli.launcher:Global rank {min(said)} (PID {400 + min(said)}) exited with code 1\n"
    )


def tail(said: dict[int, str], name: str) -> str:
    """What ``tail`` prints of several files."""
    return "".join(f"==> logs/{name.format(rank)} <==\n{words}\n" for rank, words in said.items())


def origin(engine: Engine, text: str) -> tuple[str, Origin]:
    root = engine.diagnose(Source("all.log", data=text.encode())).root_cause
    assert root is not None
    return root.rule_id, root.origin


@pytest.mark.parametrize("whose", [0, 2, 3])
def test_composers_launcher_shows_what_each_rank_wrote(engine: Engine, whose: int) -> None:
    said = {rank: RAISED if rank == whose else LOST for rank in range(4)}
    rule, began = origin(engine, composer(said, whose))
    assert (rule, began.rank) == ("unknown.user-code", whose)


def test_the_first_that_composer_saw_is_blamed_where_nobody_says_why(engine: Engine) -> None:
    said = {rank: "" if rank == 2 else LOST for rank in range(4)}
    assert origin(engine, composer(said, 2))[1].rank == 2


def test_what_all_ranks_raised_is_nobodys(engine: Engine) -> None:
    assert origin(engine, composer(dict.fromkeys(range(4), RAISED), 1))[1].rank is None


@pytest.mark.parametrize(
    ("name", "rank", "local"),
    [("rank_{}.log", 2, None), ("local_rank{}.err", 2, 2), ("part_{}.log", None, None)],
)
def test_a_heading_tells_the_rank_as_the_name_of_a_file_does(
    engine: Engine, name: str, rank: int | None, local: int | None
) -> None:
    said = {number: RAISED if number == 2 else LOST for number in (0, 2)}
    began = origin(engine, tail(said, name))[1]
    assert (began.rank, began.local_rank) == (rank, local)


WAIT = (
    "[rank{0}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=499, OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, Timeout(ms)=600000) ran for 600015 milliseconds "
    "before timing out.\n"
)
WORK = "".join(f"step {n} of 5000\n" for n in range(490, 498))


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("no data is left, leaving the training loop", "ledger.finished-early"),
        ("Saving checkpoint at step 497 to /mnt/ckpt/step_497", "ledger.checkpoint-never-returned"),
    ],
)
def test_what_a_rank_said_last_in_its_part_is_asked(engine: Engine, words: str, rule: str) -> None:
    said = {rank: WORK + (f"{words}\n" if rank == 2 else WAIT.format(rank)) for rank in range(4)}
    found = engine.diagnose(Source("all.log", data=tail(said, "rank_{}.log").encode()))
    root = found.root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == (rule, 2)
    lines = tail(said, "rank_{}.log").split("\n")
    assert all(
        shown.path == "all.log"
        and shown.line is not None
        and shown.text.split("\n")[0] == lines[shown.line - 1]
        for shown in root.evidence
    )


def test_of_a_long_bundle_rules_alone_are_asked(engine: Engine) -> None:
    said = {rank: WORK * 500 + (RAISED if rank == 2 else LOST) for rank in range(4)}
    rule, began = origin(engine, tail(said, "rank_{}.log"))
    assert (rule, began.rank) == ("unknown.user-code", 2)
