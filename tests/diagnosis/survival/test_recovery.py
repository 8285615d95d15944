"""What shows that a job got over an error which nobody says was caught; and what looks like it and does not."""

from __future__ import annotations

import json

import pytest

from triage import Diagnosis, Engine, Source

MAIN = 'Traceback (most recent call last):\n  File "/srv/kiln/fire.py", line 40, in <module>\n    main()\n'
RAISED = MAIN + '  File "/srv/kiln/fire.py", line 21, in main\n    heat(n)\nZorkError: kiln 4 is cold\n'


def diagnose(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose(Source("job.log", data=log.encode()))


def verdict(engine: Engine, log: str) -> str:
    return diagnose(engine, log).verdict


def fired(begin: int, end: int, words: str = "fired {0} of 90 tiles") -> str:
    return "".join(words.format(n) + "\n" for n in range(begin, end))


@pytest.mark.parametrize(
    "words",
    [
        "   {0:>8}   0.4120   11.3",  # a row of a table
        "{0}0,2.31,0.44,981.2",  # the same without spaces
        '{{"t": 1.7e9, "step": {0}, "glaze": 0.4}}',
        "tile_{0:03d}  1.31 s  ok",
        "2031-04-02 10:11:12 fired {0} tiles  alive=4",
        "10.0.0.3:41{0} fired ep{0} 0.31",
        "fired {0} of 90 tiles, error 0.0798",
    ],
)
def test_what_is_counted_in_whatever_form(engine: Engine, words: str) -> None:
    log = fired(10, 20, words) + RAISED + fired(20, 30, words)
    assert verdict(engine, log) == "healthy"


@pytest.mark.parametrize(
    "words",
    [
        "alive=4 elapsed={0} s",
        "client 3 gave up request {0}",
        'INFO:     10.0.0.3:41{0} - "POST /v1/completions HTTP/1.1" 500 -',
        "2031-04-02 10:11:{0} tiles in the kiln: 4",
    ],
)
def test_what_moves_without_work_is_not_counted(engine: Engine, words: str) -> None:
    assert verdict(engine, fired(10, 20, words) + RAISED + fired(20, 30, words)) == "failed"


@pytest.mark.parametrize(("still", "expected"), [((0, 1, 2), "healthy"), ((0, 1), "failed")])
def test_all_named_writers_count_on_after_a_nameless_exception(
    engine: Engine, still: tuple[int, ...], expected: str
) -> None:
    def said(begin: int, end: int, who: tuple[int, ...]) -> str:
        return "".join(f"[kiln {w}] fired {n} of 90 tiles\n" for n in range(begin, end) for w in who)

    assert verdict(engine, said(10, 16, (0, 1, 2)) + RAISED + said(16, 24, still)) == expected


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("kiln 4 restarted\n" + fired(5, 20), "healthy"),
        ("kiln 4 left out, going on\n" + fired(5, 9), "healthy"),
        ("kiln 4 cannot be restarted\n" + fired(5, 20), "failed"),
        ("kiln 4 restarted\n" + RAISED + "no restarts left, giving up\n", "failed"),
        ("kiln 4 restarted\n", "failed"),
    ],
)
def test_what_is_begun_again_below_an_exception(engine: Engine, below: str, expected: str) -> None:
    assert verdict(engine, "lighting kilns\n" + RAISED + below) == expected


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        ("[0] resuming from last.pt at step 30 (restart count 1)\n", "healthy"),
        ("[0] tensors restored\n", "failed"),
    ],
)
def test_a_requeued_job_takes_its_work_up(engine: Engine, again: str, expected: str) -> None:
    """A few steps are enough below the word of the program that it goes on from where it had been saved."""
    stopped = "".join(
        f"slurmstepd: error: *** {what} ON n1 CANCELLED AT 2031-04-02T10:11:12 DUE TO JOB REQUEUE ***\n"
        for what in ("STEP 10.0", "JOB 10")
    )
    log = (
        fired(1, 30)
        + stopped
        + "srun: forcing job termination\nWed Apr  2 10:14:00 UTC 2031\n"
        + "kiln warm\n" * 2
    )
    assert verdict(engine, log + again + fired(30, 33)) == expected


def test_a_supervisor_starts_a_crashed_program_again(engine: Engine) -> None:
    crash = "Fatal Python error: Segmentation fault\n\nkeep.sh: line 3: 931 Segmentation fault      python fire.py\n"
    again = "keep.sh: starting it again (1 of 3)\n"
    assert verdict(engine, fired(1, 30) + crash + again + fired(24, 60)) == "healthy"
    assert verdict(engine, fired(1, 30) + crash + again + fired(24, 30) + crash) == "failed"


def test_others_work_on_beside_who_only_printed_an_error(engine: Engine) -> None:
    printed = (
        "[rank 2] tile 3: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 2 has a total capacity of 15.77 GiB "
        "of which 1.01 GiB is free.\n"
    )
    bars = "".join(
        f"fire: {n}%|{'█' * (n // 10):<10}| {n}/100 [00:{n:02d}<00:20,  9.01it/s]\n" for n in range(30, 60)
    )
    assert verdict(engine, printed + "tile size halved\n" + bars) == "healthy"
    assert verdict(engine, printed + "tile size halved\n") == "failed"


def test_work_is_no_part_of_a_message(engine: Engine) -> None:
    found = diagnose(engine, fired(1, 9) + RAISED + "kiln 4 cooled\n" + fired(9, 12) + "kiln 4: giving up\n")
    assert found.verdict != "healthy"
    assert all("fired" not in e.text for e in (found.root_cause.evidence if found.root_cause else ()))


def test_output_that_was_held_back_comes_below_the_exception_that_ended_it(engine: Engine) -> None:
    steps = "".join(f"step {n} loss {3 / n:.4f}\n" for n in range(1, 40))
    stamped = "".join(f"2031-04-02 10:11:{n:02d},101 INFO step {n} loss {3 / n:.4f}\n" for n in range(1, 40))
    assert verdict(engine, RAISED + "lighting kilns\n" + steps) == "failed"
    assert verdict(engine, RAISED + stamped) == "healthy"
    assert (
        verdict(engine, "lighting kilns\n" + steps + RAISED + steps.replace("step ", "step 1")) == "healthy"
    )


def test_an_error_in_a_record_that_work_goes_on_after(engine: Engine) -> None:
    def row(n: int, rank: int, **more: object) -> str:
        return json.dumps({"ts": 17.5 + n, "rank": rank, "event": "tile", "step": n, **more}) + "\n"

    error = row(20, 1, level="error", error="OSError(122, 'Disk quota exceeded')")
    before = "".join(row(n, r) for n in range(10, 20) for r in (0, 1))
    after = "".join(row(n, r) for n in range(21, 30) for r in (0, 1))
    assert verdict(engine, before + error + after) == "healthy"
    assert verdict(engine, before + error) == "failed"


RETRIED = """\
(raylet) Task fetch failed. There are 3 retries remaining, so the task will be retried. Error: User exception:
ray::fetch() (pid=5512, ip=192.0.2.2)
  File "/srv/sweep.py", line 13, in fetch
    raise ConnectionResetError(104, f"Connection reset by peer while reading chunk {i}")
ConnectionResetError: [Errno 104] Connection reset by peer while reading chunk 8
"""


def test_what_a_task_raised_that_is_run_again_is_no_last_word(engine: Engine) -> None:
    rounds = "".join(f"round {n}/12 total {n * n} chunk {n}000\n" for n in range(12))
    found = engine.diagnose(
        [Source("job.log", data=f"{rounds}sweep finished, total 198\n{RETRIED}".encode())]
    )
    assert found.verdict == "healthy"
    given_up = RETRIED.split("\n", 1)[1]
    found = engine.diagnose([Source("job.log", data=f"{rounds}{given_up}".encode())])
    assert found.verdict == "failed"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("chunk does not fit on every rank, going on with 20480", "healthy"), ("loading passages", "failed")],
)
def test_a_program_that_says_itself_that_it_makes_do(engine: Engine, said: str, verdict: str) -> None:
    raised = (
        'Traceback (most recent call last):\n  File "/srv/embed.py", line 14, in <module>\n    z = enc(x)\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 640.00 MiB. GPU 0 has a total capacity of 139.80 GiB of "
        "which 130.26 GiB is free. 1.12 GiB allowed; Of the allocated memory 765.02 MiB is allocated by PyTorch, and 8.98 MiB is "
        "reserved by PyTorch but unallocated.\n"
    )
    work = "".join(f"[{n % 2}] embedded {20480 * (n // 2 + 1)}/300000\n" for n in range(28))
    log = f"{raised}[0] {said}\n[1] {said}\n{work}[0] all passages embedded\n[1] all passages embedded\n"
    assert engine.diagnose([Source("job.log", data=log.encode())]).verdict == verdict
