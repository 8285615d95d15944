"""A bar that ran for as long as the others waited shows that the one they waited for was at work."""

from __future__ import annotations

import re

import pytest

from triage import Engine, Source

WAIT = (
    "[rank{rank}]:[E1120 18:09:03.456109154 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
    "600012 milliseconds before timing out.\n"
)
BAR = "Tokenizing corpus (num_proc=8):  {percent}%|███▌      | {done}/5000 [{elapsed}<08:12,  5.02 examples/s]\n"
OTHERS = "".join(WAIT.format(rank=rank) for rank in (1, 2, 3))


def bar(elapsed: str, done: int = 3000) -> str:
    return BAR.format(percent=done * 100 // 5000, done=done, elapsed=elapsed)


@pytest.mark.parametrize("elapsed", ["09:40", "09:59", "10:21"])
def test_unfinished_work_of_the_length_of_the_wait_is_a_timeout_too_short(
    engine: Engine, elapsed: str
) -> None:
    logs = [Source("rank0.err", data=bar(elapsed).encode(), rank=0), Source("job.err", data=OTHERS.encode())]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("watchdog-too-short", 0)
    assert any("examples/s" in e.text for e in root.evidence)
    # the whole takes 5/3 of what it took so far; half of that to spare
    (seconds,) = re.findall(r"timedelta\(seconds=(\d+)\)", " ".join(s.run or "" for s in root.remediation))
    minutes, rest = map(int, elapsed.split(":"))
    assert int(seconds) == int(1.5 * (60 * minutes + rest) * 5 / 3)


@pytest.mark.parametrize(
    "other",
    [
        bar("02:10"),  # stopped long before the others gave up
        bar("31:10"),  # a bar of the whole training, not of the wait
        bar("09:59", done=5000),  # full
    ],
)
def test_other_bars_prove_nothing(engine: Engine, other: str) -> None:
    logs = [Source("rank0.err", data=other.encode(), rank=0), Source("job.err", data=OTHERS.encode())]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert root.category != "watchdog-too-short"


def test_a_bar_of_one_that_waited_itself_proves_nothing(engine: Engine) -> None:
    logs = [Source("rank1.err", data=(bar("09:59") + WAIT.format(rank=1)).encode(), rank=1),
            Source("job.err", data=(WAIT.format(rank=2) + WAIT.format(rank=3)).encode())]  # fmt: skip
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert root.category != "watchdog-too-short"


def test_the_last_bar_may_be_anothers_who_begins(engine: Engine) -> None:
    log = bar("09:59") + bar("00:00", done=0) + OTHERS
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "watchdog-too-short"


def waited(rank: int, at: str, seq: int = 7) -> str:
    """A rank that gave up at ``at`` after ten minutes."""
    return WAIT.format(rank=rank).replace("18:09:03", at).replace("SeqNum=7", f"SeqNum={seq}")


def test_who_begins_to_wait_when_all_others_have_given_up_came_late(engine: Engine) -> None:
    world = "rank 0 of 4 ready\nrank 1 of 4 ready\nrank 2 of 4 ready\nrank 3 of 4 ready\n"
    log = world + "".join(waited(rank, "18:09:03") for rank in (0, 1, 3)) + waited(2, "18:22:40", seq=8)
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("watchdog-too-short", 2)
    assert "still on its way for 817 s" in root.summary


def test_a_wait_that_began_among_the_others_is_not_late(engine: Engine) -> None:
    world = "rank 0 of 4 ready\nrank 1 of 4 ready\nrank 2 of 4 ready\nrank 3 of 4 ready\n"
    log = world + "".join(waited(rank, "18:09:03") for rank in (0, 1, 3)) + waited(2, "18:11:40", seq=8)
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "collective-desync"


def test_a_bar_that_never_took_a_step_was_a_wait_too(engine: Engine) -> None:
    log = "make_experience:   0%|          | 0/128 [10:02<?, ?it/s]\n" + WAIT.format(rank=1)
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category != "watchdog-too-short"


def test_a_line_right_behind_a_bar_does_not_make_it_that_writer_s(engine: Engine) -> None:
    drawn = "".join(bar(f"0{minute}:30", 500 * minute) for minute in range(1, 10))
    waits = [
        re.sub(r"^.*?\] ", "[E ProcessGroupNCCL.cpp:475] ", WAIT.format(rank=rank)) for rank in (2, 1, 3)
    ]
    log = drawn + bar("09:58", 4980).rstrip("\n") + "".join(waits)
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "watchdog-too-short"


def test_a_bar_of_the_epoch_is_nobodys_own_work_though_it_has_no_end(engine: Engine) -> None:
    """It closed when the exception came: its time is that of the wait."""
    drawn = "".join(f"Epoch 9, Rank {r}, world_size 4: 35batch [00:03, 10.5batch/s]\n" for r in (0, 3))
    closed = "Epoch 9, Rank 2, world_size 4: 26batch [10:06, 69.48s/batch]\n"
    waits = WAIT.format(rank=2) + WAIT.format(rank=1).replace("SeqNum=7", "SeqNum=5")
    root = engine.diagnose((drawn + waits + closed).encode()).root_cause
    assert root is not None
    assert root.category == "collective-desync"


BUILDS = "".join(
    f"2026-11-20 10:{n:02d}:00 INFO rank 0 building index: {n * 1000}/15000 documents\n" for n in range(16)
)
FOUND_NOBODY = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/data.py", line 62, in build
[rank0]:     dist.barrier()
[rank0]: torch.distributed.DistNetworkError: failed to recv, got 0 bytes
"""


def gave_up(rank: int) -> Source:
    said = f"""2026-11-20 10:00:01 INFO rank {rank} waiting for rank 0 to build the index
[rank{rank}]: Traceback (most recent call last):
[rank{rank}]:   File "/app/data.py", line 55, in build
[rank{rank}]:     store.wait(["index_ready"])
[rank{rank}]: torch.distributed.DistStoreError: Socket Timeout
"""
    return Source(f"rank{rank}.log", data=said.encode(), rank=rank)


@pytest.mark.parametrize(
    ("said", "category"),
    [
        (BUILDS + FOUND_NOBODY, "watchdog-too-short"),  # it came, and the others had gone
        (BUILDS.partition("10:06")[0] + "\n" + FOUND_NOBODY, "rendezvous"),  # it was not through
    ],
)
def test_work_that_was_done_in_vain_needs_no_clock(engine: Engine, said: str, category: str) -> None:
    logs = [Source("rank0.log", data=said.encode(), rank=0), *map(gave_up, (1, 2, 3))]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, 0)
