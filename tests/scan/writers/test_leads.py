"""What a launcher of somebody's own puts before lines is learned from the lines together."""

from __future__ import annotations

import pytest

from triage.scan.writers.leads import learn, split

LINES = [f"<slot:{at % 3}> row {at} of the table" for at in range(12)]
KUBELET = "2026-11-22T10:00:{:02d}.000000000Z stderr F {}"


@pytest.mark.parametrize(
    "log",
    [
        LINES,
        [f"\x1b[36m{line}\x1b[0m" for line in LINES],
        [KUBELET.format(at, line) for at, line in enumerate(LINES)],
    ],
    ids=["bare", "coloured", "collected"],
)
def test_leads_are_found_below_colours_and_what_a_container_runtime_stamps(log: list[str]) -> None:
    leads = learn("\n".join(log).encode())
    prefix, message = split(leads, log[4])
    assert (prefix.stream, message) == ("lead slot:1", "row 4 of the table")
    assert log[4][prefix.length :].startswith(message)


def test_the_digits_of_a_rate_number_nobody() -> None:
    rates = [1, 6, 3, 7, 4, 0, 5, 2, 8, 1, 3, 6]
    bars = [
        f"steps:  34%|███       | {700 + at}/2025 [11:40<22:05,  1.0{rate}it/s]"
        for at, rate in enumerate(rates)
    ]
    lines = [f"gone through {700 + at} pages at 1.0{rate} a second" for at, rate in enumerate(rates)]
    for log in (bars, lines):
        assert split(learn("\n".join(log).encode()), log[3])[0].rank is None


def test_pods_that_are_numbered_otherwise_than_the_ranks_in_them_tell_no_rank() -> None:
    turns = [(0, 1), (1, 2), (2, 3), (1, 2), (0, 1), (2, 3), (1, 2), (0, 1), (2, 3), (0, 1)]
    tagged = [f"[rec-worker-{pod} torch] [rank{rank}]: step done" for pod, rank in turns]
    bare = f"[rec-worker-{turns[0][0]} torch] an assertion failed"
    leads = learn("\n".join([*tagged, bare]).encode())
    assert split(leads, bare)[0].rank is None
    assert split(leads, tagged[0])[0].rank == 1


@pytest.mark.parametrize(
    ("log", "ranks"),
    [
        (["INFO:w0:shard of 250 rows", "INFO:w2:shard of 247 rows", "INFO:w1:shard of 250 rows", "INFO:w2:epoch 0 over"], [0, 2, 1, 2]),
        (["INFO:w0:shard of 250 rows", "INFO:w2:shard of 247 rows"], [None, None]),  # one is missing
        (["INFO:v0:shard of 250 rows", "INFO:v2:shard of 247 rows", "INFO:v1:shard of 250 rows"], [None, None, None]),
    ],
)  # fmt: skip
def test_processes_that_say_little_are_numbered_behind_a_word_for_them(
    log: list[str], ranks: list[int | None]
) -> None:
    tables = [f"  {name:<10}: 0" for name in ("time", "host", "rank", "exitcode", "error_file", "traceback")]
    leads = learn("\n".join([*log, *tables, *tables]).encode())
    assert [split(leads, line)[0].rank for line in log] == ranks


def test_a_lead_may_hold_the_level() -> None:
    words = [("INFO", 0), ("INFO", 1), ("WARNING", 2), ("INFO", 0), ("INFO", 1), ("ERROR", 2)] * 3
    log = [f"2026-11-22 18:35:2{n % 9},000 {level} worker-{w} step {n}" for n, (level, w) in enumerate(words)]
    assert [split(learn("\n".join(log).encode()), line)[0].level for line in log[4:6]] == ["info", "error"]
