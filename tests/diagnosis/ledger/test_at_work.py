"""Who is at work while others wait: counts without a whole, counts in fields, counts that kept their pace to the end."""

from __future__ import annotations

import json

import pytest

from triage import Engine, Hypothesis, Source

WAITED = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 12000ms for recv operation to complete"
LATE = (
    "[rank{0}]:[E0304 10:01:{1}.183912 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=20000) ran for 20045 milliseconds before "
    "timing out.\n"
)


def raised(rank: int) -> str:
    tag = f"[rank{rank}]: "
    frames = (
        "Traceback (most recent call last):",
        '  File "/srv/app/fit.py", line 40, in update',
        "    reduce(x)",
    )
    return "".join(f"{tag}{line}\n" for line in (*frames, WAITED))


def cause(engine: Engine, log: str) -> Hypothesis:
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    return root


def turns(form: str) -> str:
    return "".join(form.format(r=r, x=f"turn {k} sum {k * 3}") for k in range(4) for r in range(4))


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("linked {0}0 nodes, {0}.5% pruned", "watchdog-too-short"),
        ("cache miss, sample {0} read from origin", "watchdog-too-short"),
        ("waiting for the lock since {0} s", "straggler-or-hang"),
        ("attempt {0} to reach the table", "straggler-or-hang"),
    ],
)
def test_who_alone_counts_on_after_the_others_gave_up_was_at_work(
    engine: Engine, words: str, category: str
) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    before = "".join(form.format(r=2, x=words.format(n)) for n in (31, 32, 33, 34))
    log = turns(form) + before + raised(0) + raised(1) + raised(3) + form.format(r=2, x=words.format(35))
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == (category, 2)
    assert any(words.format(35) in e.text for e in root.evidence)


def test_who_counts_no_further_is_not_known_to_be_at_work(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    before = "".join(form.format(r=2, x=f"linked {n}0 nodes") for n in (31, 32, 33, 34))
    root = cause(engine, turns(form) + before + raised(0) + raised(1) + raised(3))
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)


def test_a_record_counts_in_fields_of_its_own(engine: Engine) -> None:
    def told(second: int, done: int) -> str:
        stamp = f"2026-03-04T10:{second // 60:02d}:{second % 60:02d}Z"
        return json.dumps({"time": stamp, "message": "packed", "shards_done": done, "of": 60}) + "\n"

    waits = "".join(LATE.format(r, 30) for r in (0, 1, 3))
    hello = "".join(
        f'{{"time": "2026-03-04T10:00:01Z", "message": "up", "global_rank": {r}}}\n' for r in range(4)
    )
    root = cause(engine, hello + told(70, 4) + told(80, 8) + waits + told(100, 12) + told(110, 16))
    assert root.category == "watchdog-too-short"
    assert any('"shards_done": 16' in e.text for e in root.evidence)


@pytest.mark.parametrize(("last", "category"), [(28, "watchdog-too-short"), (16, "straggler-or-hang")])
def test_a_count_that_was_not_yet_due_again_is_work(engine: Engine, last: int, category: str) -> None:
    def count(second: int) -> str:
        return f"2026-03-04 10:01:{second:02d},094 INFO [rank 0] segment {second // 4}/40 merged, step 300\n"

    counts = "".join(count(second) for second in range(4, last + 1, 4))
    root = cause(engine, counts + "".join(LATE.format(r, 30) for r in (1, 2, 3)))
    assert (root.category, root.origin.rank) == (category, 0)


def test_steps_are_counted_by_all_and_are_nobodys_work(engine: Engine) -> None:
    for words in ("step {0}/40", "{0}/40 batches", "[{0}/40] loss 2.1"):
        counts = "".join(
            f"2026-03-04 10:01:{s:02d},094 INFO [rank 0] {words.format(s // 4)}\n" for s in range(4, 29, 4)
        )
        root = cause(engine, counts + "".join(LATE.format(r, 30) for r in (1, 2, 3)))
        assert root.category != "watchdog-too-short"
