"""What most processes say last, in words of their own: that somebody did not come, or went; who does not say so broke first."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Diagnosis


def work(lead: str, ranks: int, steps: int = 4) -> list[str]:
    hello = [f"{lead.format(r)}member {r} of {ranks} here" for r in range(ranks)]
    return [*hello, *(f"{lead.format(r)}lap {k} passed" for k in range(steps) for r in range(ranks))]


def told(engine: Engine, lines: list[str]) -> Diagnosis:
    return engine.diagnose(("\n".join(lines) + "\n").encode())


LEADS = ["w{:02} ", "10:00:00 <k1-{}> ", "Process {}: ", "p{}| "]


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize(
    "words",
    [
        "giving up: baton 4 overdue",
        "ERROR no answer for lap 4",
        "stopping: lap 4 was never acknowledged",
        "halting, baton 4 never came",
    ],
)
def test_who_does_not_complain_kept_the_others_waiting(engine: Engine, lead: str, words: str) -> None:
    lines = [*work(lead, 5), lead.format(3) + "stretching the legs"]
    lines += [lead.format(r) + words for r in (4, 0, 2, 1)]
    root = told(engine, lines).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 3)
    assert any("stretching the legs" in shown.text for shown in root.evidence)


@pytest.mark.parametrize(
    "words", ["giving up: ring is broken", "stopping: stream closed", "ERROR session over"]
)
def test_who_is_gone_without_a_word_is_missed_by_all_others(engine: Engine, words: str) -> None:
    lines = [*work("w{:02} ", 6), *(f"w{r:02} {words}" for r in (0, 3, 5, 1, 4))]
    root = told(engine, lines).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 2)


def test_the_same_words_need_not_be_known(engine: Engine) -> None:
    lines = [*work("w{:02} ", 6), *(f"w{r:02} the carousel has no horses" for r in (0, 3, 5, 1, 4))]
    root = told(engine, lines).root_cause
    assert root is not None
    assert root.origin.rank == 2


def test_who_is_a_lap_ahead_left_one_out(engine: Engine) -> None:
    lines = [
        *work("w{:02} ", 6),
        *(f"w{r:02} giving up: baton {4 + (r == 4)} overdue" for r in (0, 4, 5, 1, 3, 2)),
    ]
    root = told(engine, lines).root_cause
    assert root is not None
    assert root.origin.rank == 4


def test_a_log_for_each(engine: Engine) -> None:
    logs = {
        r: [
            f"member {r} of 4 here",
            "lap 1 passed",
            "lap 2 passed",
            *([] if r == 1 else ["ERROR lap 3 not received"]),
        ]
        for r in range(4)
    }
    found = engine.diagnose(
        [
            Source(f"out.{r}", path=f"out.{r}", data=("\n".join(rows) + "\n").encode())
            for r, rows in logs.items()
        ]
    )
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == 1


@pytest.mark.parametrize(
    "end",
    [
        [f"w{r:02} all laps done" for r in range(4)],
        [f"w{r:02} laps: 0 dropped, timeout=600s timeout_budget=40s" for r in range(4)],
        ["w00 saved the table", *(f"w{r:02} finished" for r in (1, 2, 3))],
        ["w00 collected all", *(f"w{r:02} connection closed" for r in (1, 2, 3)), "w00 race complete"],
    ],
)
def test_ends_that_are_well(engine: Engine, end: list[str]) -> None:
    assert told(engine, [*work("w{:02} ", 4), *end]).verdict != "failed"


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("ERROR lap 4: stride is negative", "user-code"),
        ("FATAL energy is not a number, stopping", "numerics"),
        ("ERROR chunk unreadable: Error -3 while decompressing data: incorrect data check", "data-loading"),
    ],
)
def test_what_one_alone_reports_is_the_cause(engine: Engine, words: str, category: str) -> None:
    lines = [
        *work("w{:02} ", 5),
        f"w03 {words}",
        *(f"w{r:02} ERROR lap 4: somebody left" for r in (0, 4, 1, 2)),
    ]
    root = told(engine, lines).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == (category, 3)


def test_an_untold_exception_is_that_of_the_one_who_repeats_it(engine: Engine) -> None:
    trace = [
        "Traceback (most recent call last):",
        '  File "/srv/run.py", line 9, in lap',
        "    a / b",
        "ZeroDivisionError: division by zero",
    ]
    lines = [*work("w{:02} ", 5), *trace, "w02 ERROR ZeroDivisionError: division by zero"]
    lines += [f"w{r:02} ERROR the line was cut by a neighbour" for r in (0, 4, 1, 3)]
    root = told(engine, lines).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 2)


def test_lists_tell_which_rank_a_name_is(engine: Engine) -> None:
    names = ["server", "worker-a", "worker-b", "worker-c"]
    lines = ["10:00:00 server    INFO roster: " + ", ".join(f"{n}={name}" for n, name in enumerate(names))]
    lines += [f"10:00:0{k} {name:9} INFO round {k} applied" for k in range(5) for name in names]
    lines += ["10:00:06 worker-b  INFO compacting the cache"]
    lines += [f"10:00:12 {name:9} ERROR pull of round 5 timed out" for name in names if name != "worker-b"]
    root = told(engine, lines).root_cause
    assert root is not None
    assert root.origin.rank == 2


def test_a_launcher_tells_which_process_is_which(engine: Engine) -> None:
    lines = [f"[launch] slot {n} is process {9001 + 2 * n}" for n in range(4)]
    lines += [f"{9001 + 2 * n} token {k} passed" for k in range(4) for n in range(4)]
    lines += [f"{9001 + 2 * n} giving up: token 4 overdue" for n in (0, 1, 2)]
    root = told(engine, lines).root_cause
    assert root is not None
    assert root.origin.rank == 3


def test_the_name_of_a_writer_is_none_of_the_words_that_tell_a_kind_of_failure(engine: Engine) -> None:
    seats = [f"pod-{r // 4}/slot{r % 4}" for r in range(12)]
    log = "".join(
        f"2026-11-22 10:0{k}:{r:02},107 | {seat} | sweep {k} merged 48 tiles\n"
        for k in range(6) for r, seat in enumerate(seats)
    )  # fmt: skip
    log += f"2026-11-22 10:06:07,107 | {seats[7]} | QuiltTornError: seam 311 of tile 9 does not close\n"
    log += "".join(
        f"2026-11-22 10:07:{r:02},107 | {seat} | no word from the ring for 45 s, giving up\n"
        for r, seat in enumerate(seats) if r != 7
    )  # fmt: skip
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 7)
    assert "QuiltTornError" in root.evidence[0].text


def test_what_the_silent_one_alone_said_is_told_as_its_last_words(engine: Engine) -> None:
    log = "".join(
        f"2026-11-22T03:10:{4 * k:02d}.{r}00Z [{r}] iter {10 * k} nll {3.1 - k / 20:.2f} tok/s 41{r}10\n"
        for k in range(12)
        for r in range(4)
    )
    log += "2026-11-22T03:10:49.000Z [3] flushing optimizer shard to /mnt/ceph/run7/opt_3.part\n"
    log += "".join(
        f"2026-11-22T03:{at}.{r}00Z [{r}] {said}\n"
        for at, said in (
            ("10:50", "iter 120 nll 2.51 tok/s 41010"),
            ("20:52", "gave up after 600 s in reduce_bucket(17)"),
            ("20:53", "leaving with status 1"),
        )
        for r in range(3)
    )
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None and root.origin.rank == 3
    assert "flushing optimizer shard" in root.summary


def test_who_starts_the_ranks_is_none_of_those_that_wait(engine: Engine) -> None:
    """The agent's report of a code stands last: it is no reason of anybody's own."""
    steps = "".join(
        f"2026-10-02 08:00:{s:02d} INFO [rank{r}] step {s} loss 2.3\n" for s in (1, 2, 3) for r in range(4)
    )
    waits = "".join(
        f"2026-10-02 08:10:3{r} ERROR [rank{r}] gave up after 600 s waiting for peers at step 4\n"
        for r in (0, 1, 3)
    )
    agent = (
        "E1002 08:10:41.220000 100 torch/distributed/elastic/multiprocessing/api.py:882] "
        "failed (exitcode: 1) local_rank: 0 (pid: 101) of binary: /usr/bin/python3\n"
    )
    text = f"{steps}2026-10-02 08:00:05 INFO [rank2] acquiring the lock of the run\n{waits}{agent}"
    root = engine.diagnose([Source("train.log", data=text.encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)


@pytest.mark.parametrize(
    "leave", ["leaving with status 1", "exiting now", "worker is shutting down", "exit code 3"]
)
def test_what_stands_above_a_farewell_is_what_counts(engine: Engine, leave: str) -> None:
    lines = work("p{}| ", 4)
    for r in (3, 0, 1):
        lines += [f"p{r}| lap 4: 3 of 4 batons after 6.{r} s, gave up", f"p{r}| {leave}"]
    root = told(engine, lines).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)
