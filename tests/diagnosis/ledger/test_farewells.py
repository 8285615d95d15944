"""Who left before the others: a rank that says that it is through did not crash, whatever it calls its end."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

CLOSED = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:1940."
WAITED = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 9000ms for recv operation to complete"


def cause(engine: Engine, log: str) -> Hypothesis:
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    return root


def raised(error: str, tag: str = "") -> str:
    return (
        f"{tag}Traceback (most recent call last):\n"
        f'{tag}  File "/srv/app/fit.py", line 40, in update\n'
        f"{tag}    call(x)\n"
        f"{tag}{error}\n"
    )


def turns(form: str, ranks: int, steps: int = 4) -> str:
    return "".join(form.format(r=r, x=f"turn {k} sum {k * 3}") for k in range(steps) for r in range(ranks))


@pytest.mark.parametrize(
    "words",
    [
        "my budget of rounds is used up",
        "closing",
        "leaving the schedule now",
        "learner finished",
        "run complete",
    ],
)
def test_who_says_that_it_is_through_has_left(engine: Engine, words: str) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    log = (
        turns(form, 5)
        + form.format(r=3, x=words)
        + "".join(raised(CLOSED, f"[rank{r}]: ") for r in (0, 1, 2, 4))
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 3)
    assert any(words in e.text for e in root.evidence)


def test_several_that_say_so_have_left_together(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    log = (
        turns(form, 5)
        + "".join(form.format(r=r, x="input exhausted, bye") for r in (2, 3))
        + "".join(raised(CLOSED, f"[rank{r}]: ") for r in (0, 1, 4))
    )
    root = cause(engine, log)
    assert (root.category, root.origin.ranks) == ("collective-desync", (2, 3))
    assert "Ranks 2, 3 ended normally" in root.summary


def test_an_ordinary_line_is_no_farewell(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    log = turns(form, 5) + form.format(r=3, x="closing the gap to the target") + "".join(
        raised(CLOSED, f"[rank{r}]: ") for r in (0, 1, 2, 4)
    )  # fmt: skip
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("rank-crash", 3)


def test_a_farewell_without_a_name_is_of_the_one_that_went(engine: Engine) -> None:
    lines = "".join(f"turn {k} sum {k * 3}\n" for k in range(5) for _ in range(4))
    log = lines + "task complete\n" + "".join(raised(CLOSED, f"[rank{r}]: ") for r in (0, 1, 3))
    log = f"[rank2]: ready\n{log}"
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 2)


def test_as_many_nameless_complaints_as_others_leave_the_one_that_said_goodbye(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    bye = form.format(r=2, x="worker finished")
    root = cause(engine, turns(form, 4) + bye + raised(CLOSED) * 3)
    assert (root.category, root.origin.rank) == ("collective-desync", 2)
    # somebody else went as well, or has not complained yet
    assert cause(engine, turns(form, 4) + bye + raised(CLOSED) * 2).origin.rank is None


def test_one_complaint_less_than_ranks_and_one_that_said_what_no_other_did(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    odd = form.format(r=1, x="cache miss, asking the origin for rows")
    root = cause(engine, turns(form, 4) + odd + raised(WAITED) * 3)
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 1)
    # all of them wait: it went another way
    root = cause(engine, turns(form, 4) + odd + raised(WAITED) * 4)
    assert (root.category, root.origin.rank) == ("collective-desync", 1)


def test_what_one_that_is_gone_logged_as_an_error_is_why(engine: Engine) -> None:
    form = "I0304 10:00:0{r}.000100 77{r} shard-{r}] {x}\n"
    log = turns(form, 3) + "E0304 10:00:09.000100 770 server] gradient of shard-1 is not finite, stopping\n"
    log = "".join(f"I0304 10:00:00.000100 77{r} shard-{r}] up (rank {r} of 3)\n" for r in range(3)) + log
    root = cause(engine, log + "".join(raised(CLOSED, f"[rank{r}]: ") for r in (1, 2)))
    assert (root.category, root.origin.rank) == ("numerics", 0)


SPAWNED = (
    "-- Process 3 terminated with the following error:\n"
    "Traceback (most recent call last):\n"
    '  File "/opt/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 89, in _wrap\n'
    "    fn(i, *args)\n"
    '  File "/workspace/run.py", line 8, in work\n'
    "    dist.all_reduce(t)\n"
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:13503\n"
)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("<w2> 44 simulations done, that is all I was asked for", "ledger.finished-early"),
        ("<w2> simulation 41", "ledger.peer-vanished"),
    ],
)
def test_spawn_tells_only_of_the_first_that_raised(engine: Engine, words: str, rule: str) -> None:
    work = "".join(f"22:37:4{n} <w{r}> simulation {10 * n}\n" for n in range(5) for r in range(4))
    root = engine.diagnose(Source("run.txt", data=f"{work}22:37:45 {words}\n{SPAWNED}".encode())).root_cause
    assert root is not None
    assert root.rule_id == rule
    assert (root.origin.rank == 2) is (rule == "ledger.finished-early")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("no data is left after 498 steps, leaving the training loop", "ledger.finished-early"),
        ("step 498 of 5000", "ledger.waiting-unlocalised"),
    ],
)
def test_who_left_is_known_though_others_do_not_complain(engine: Engine, words: str, rule: str) -> None:
    """The launcher ended some before they could say that they had waited."""
    wait = (
        "[rank{0}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=499, OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, Timeout(ms)=600000) ran for 600015 "
        "milliseconds before timing out."
    )
    work = "".join(f"{r}: [rank{r}] step {n} of 5000\n" for n in range(490, 498) for r in range(8))
    log = work + f"3: [rank3] {words}\n" + "".join(f"{r}: {wait.format(r)}\n" for r in (0, 1, 4, 6, 7))
    root = engine.diagnose(Source("slurm.out", data=log.encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == (rule, 3 if rule == "ledger.finished-early" else None)
