"""Jobs that their time limit ended: at work, or after they had stood still for long."""

from __future__ import annotations

import pytest

from triage import Engine, Source

LIMIT = "slurmstepd: error: *** JOB 7 ON g9 CANCELLED AT 2026-08-19T{0} DUE TO TIME LIMIT ***\n"


def steps(number: int = 12, *, clock: str = "2026-08-19 01:{0:02d}:07") -> str:
    return "".join(f"[{clock.format(minute)}] step {minute}: loss=2.{minute}\n" for minute in range(number))


def judged(engine: Engine, text: str) -> str:
    root = engine.diagnose(Source("job.out", data=text.encode())).root_cause
    assert root is not None
    return root.rule_id


def test_a_limit_that_finds_nothing_said_for_long_ended_a_hang(engine: Engine) -> None:
    log = steps() + "[2026-08-19 01:11:58] sending the weights\n" + LIMIT.format("04:55:03")
    root = engine.diagnose(Source("job.out", data=log.encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.category) == ("slurm.stood-still", "straggler-or-hang")
    assert "sending the weights" in root.evidence[0].text


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (steps() + LIMIT.format("01:12:09"), "it was at work"),
        (steps() + LIMIT.format("05:11:40"), "the clocks may be of two zones"),
        (steps(3) + LIMIT.format("04:55:03"), "how often it says something is not known"),
        (
            steps() + "".join(f"step {n} of 400, loss 2.1\n" for n in range(30)) + LIMIT.format("04:55:03"),
            "lines without a time",
        ),
        (
            "".join(f"[2026-08-19 0{hour}:11:07] epoch {hour} done\n" for hour in range(8))
            + LIMIT.format("08:55:03"),
            "an hour is what it takes",
        ),
        (
            steps() + "INFO:     Application startup complete.\n" + LIMIT.format("04:55:03"),
            "a server that nobody asks says nothing",
        ),
    ],
)
def test_a_limit_is_the_reason_where_nothing_shows_a_hang(engine: Engine, log: str, why: str) -> None:
    assert judged(engine, log) == "slurm.time-limit", why


def test_stamps_without_a_year_are_of_the_limits_year(engine: Engine) -> None:
    log = "".join(
        f"INFO 08-19 01:{minute:02d}:07 [loggers.py:127] throughput 4{minute}.1 tokens/s\n"
        for minute in range(12)
    )
    assert judged(engine, log + LIMIT.format("04:55:03")) == "slurm.stood-still"


def test_another_log_that_went_on_shows_work(engine: Engine) -> None:
    stopped = steps() + LIMIT.format("04:55:03")
    other = "".join(f"[2026-08-19 04:{minute:02d}:07] request {minute} served\n" for minute in range(40, 55))
    sources = [Source("job.out", data=stopped.encode()), Source("server.log", data=other.encode())]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert root.rule_id == "slurm.time-limit"


STOPPED = "W0819 {0}.285000 1013 torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers\n"


def test_a_signal_that_finds_nothing_said_for_long_ended_a_hang(engine: Engine) -> None:
    log = steps(clock="2026-08-19 01:00:{0:02d}") + STOPPED.format("01:03:07")
    assert judged(engine, log) == "torch.stood-still"


@pytest.mark.parametrize(
    "log",
    [
        steps() + STOPPED.format("01:12:09"),
        steps(clock="2026-08-19 01:00:{0:02d}") + STOPPED.format("03:00:14"),
        steps(3, clock="2026-08-19 01:00:{0:02d}") + STOPPED.format("01:03:07"),
    ],
    ids=["at work", "clocks of two zones", "unknown how often"],
)
def test_a_signal_that_finds_work_is_somebodys_wish(engine: Engine, log: str) -> None:
    assert judged(engine, log) == "torch.agent-death-signal"


def test_who_said_something_else_before_all_stood_still(engine: Engine) -> None:
    said = "".join(f"2026-08-19 01:00:{k:02d} rank {r}: turn {k}\n" for k in range(12) for r in range(4))
    odd = "".join(f"2026-08-19 01:00:{k} rank 2: no tokens in batch {k}, going on\n" for k in (12, 13))
    root = engine.diagnose(
        Source("job.out", data=(said + odd + STOPPED.format("01:03:07")).encode())
    ).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("torch.stood-still", 2)
    assert any("no tokens" in e.text for e in root.evidence)


def test_who_had_lost_a_process_before_did_not_just_stand_still(engine: Engine) -> None:
    killed = (
        "E0819 01:00:20.655000 670 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -9) local_rank: 1 "
        "(pid: 751) of binary: /usr/bin/python3\n"
    )
    log = steps(clock="2026-08-19 01:00:{0:02d}")
    sources = [
        Source("n0.log", data=(log + STOPPED.format("01:03:07")).encode()),
        Source("n1.log", data=(log + killed).encode()),
    ]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert root.rule_id != "torch.stood-still"


def test_a_server_that_nobody_asked_for_hours_did_not_stand_still(engine: Engine) -> None:
    idle = (
        "(APIServer pid=31) INFO 08-19 01:12:01 [loggers.py:236] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg "
        "generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%\n"
    )
    busy = idle.replace("Running: 0", "Running: 7")
    assert judged(engine, steps() + idle + LIMIT.format("04:55:03")) == "slurm.time-limit"
    assert judged(engine, steps() + busy + LIMIT.format("04:55:03")) == "slurm.stood-still"
