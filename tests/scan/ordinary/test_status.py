"""The exit status that a script states in the last line of its log."""

from __future__ import annotations

import pytest

from triage import Engine, text_source

STEPS = "".join(f"sweep {n} plaquette 0.49{n:02d}\n" for n in range(12))
ODD = "It appears as if there is not enough space for the zork: performance degradation is likely.\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


def verdict(engine: Engine, log: str) -> str:
    return engine.diagnose_sources([text_source(log, name="job.log")]).verdict


@pytest.mark.parametrize(
    "line",
    [
        "rc=0",
        "exit 0",
        "exit code: 0",
        "mpirun: 0",
        "mpirun finished with 0",
        "train.py exited with code 0",
        "== status 0",
    ],
)
def test_zero_is_a_good_end(engine: Engine, line: str) -> None:
    assert verdict(engine, f"ERROR zork was lost for a while\n{STEPS}{line}\n") == "healthy"


@pytest.mark.parametrize(
    "line",
    [
        "10:42:16.804 INFO bench.py:56] bench complete",
        "2026-01-08 10:13:21 INFO trainer: done, exit 0",
        "reached max_steps, finishing",
        "# All processes entering MPI_Finalize",
        "sweep finished!",
        "2026-01-08 10:13:21,041 INFO 14490 evaluation finished, results in results.json",
        "Job 'raysubmit_k2Q9x' exit 0",
    ],
)
def test_what_was_to_be_done_is_done(engine: Engine, line: str) -> None:
    assert verdict(engine, f"ERROR zork was lost for a while\n{STEPS}{line}\n") == "healthy"


@pytest.mark.parametrize(
    "line",
    ["worker 3: all done", "job not finished", "sweep failed, all done", "evaluation finished, 3 of 9 tasks"],
)
def test_a_part_that_is_done_is_not_all(engine: Engine, line: str) -> None:
    trouble = 'Traceback (most recent call last):\n  File "/home/user/train.py", line 12, in main\n    descend()\nCellarError: no stairs\n'
    assert verdict(engine, f"{STEPS}{trouble}{line}\n") == "failed"


def test_a_script_is_content_whatever_its_launcher_saw(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/user/train.py", line 12, in main\n    descend(cellar)\n'
        "ValueError: the cellar has no stairs\n"
        "[2026-01-08 10:13:21,591] [ERROR] [launch.py:341:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', "
        "'--local_rank=1'] exits with return code = 1\n<<< frequency 1087 MHz\nAll done.\nLog files:\n"
    )
    assert verdict(engine, log) == "failed"


@pytest.mark.parametrize(
    "line", ["rc=1", "exit 137", "exit code: 2", "train.py exited with code 3", "status 134"]
)
def test_anything_else_is_a_bad_one(engine: Engine, line: str) -> None:
    assert verdict(engine, f"{STEPS}{line}\n") == "failed"


@pytest.mark.parametrize(
    "line",
    [
        "loss 0",
        "python 3",
        "slurmstepd: error: TaskEpilog failed status=1",
        "rank 3 exited 12000",
        "GPU 0",
        "epoch 7",
    ],
)
def test_other_numbers_are_no_status(engine: Engine, line: str) -> None:
    assert verdict(engine, f"{STEPS}{line}\n") == "healthy"


def test_zero_right_below_an_error_is_not_believed(engine: Engine) -> None:
    log = (
        f"{STEPS}Traceback (most recent call last):\n"
        '  File "/home/user/train.py", line 12, in main\n    descend(cellar)\n'
        "ValueError: the cellar has no stairs\nexit 0\n"
    )
    assert verdict(engine, log) == "failed"


@pytest.mark.parametrize(
    "line",
    [
        "Process finished with exit code -1",
        "Process finished with exit code -1073741819 (0xC0000005)",
        "Process finished with exit code 137 (interrupted by signal 9: SIGKILL)",
        "sweep.py returned -9",
        "Tue Mar  3 04:11:09 CET 2026 train exited rc=124",
        "Tue 03 Mar 2026 04:11:09 AM CET: exit code 2",
    ],
)
def test_what_ended_badly_is_told_in_many_ways(engine: Engine, line: str) -> None:
    assert verdict(engine, f"{STEPS}{line}\n") == "failed"


FOOTER = (
    "=========================\n[n4]: Elapsed time: 12 seconds (0h 0m 12s)\n[n4]: Output files:\n"
    "[n4]:   Standard output: /scratch/zork/n4.out\n[n4]:   Standard error: /scratch/zork/n4.err\n========\n"
)


@pytest.mark.parametrize(("status", "found"), [(0, "healthy"), (3, "failed")])
def test_times_and_places_below_a_status_take_nothing_from_it(
    engine: Engine, status: int, found: str
) -> None:
    assert verdict(engine, f"{STEPS}[n4]: Exit code: {status}\n{FOOTER}") == found


def test_who_goes_on_below_a_status_is_not_at_its_end(engine: Engine) -> None:
    assert verdict(engine, f"exit code: 3\n{STEPS}") == "healthy"


def test_a_stage_that_gave_back_a_status_and_was_the_last(engine: Engine) -> None:
    log = (
        "2026-03-01 10:00:1{0} | INFO | stage {1}: started\n2026-03-01 10:00:1{0} | INFO | stage {1}: done\n"
    )
    stages = "".join(log.format(n, name) for n, name in enumerate(("fetch", "pack", "shuffle")))
    bad = "2026-03-01 10:00:17 | WARNING | stage learn: returned 3, the others will not run\n"
    end = "2026-03-01 10:00:18 | INFO | driver exiting\n"
    assert verdict(engine, stages + end) == "healthy"
    assert verdict(engine, stages + bad + end) == "inconclusive"


RECORD = '{{"elapsed_s": 3.1, "http_status": 200, "text": "ERROR: the pump failed at {0}, out of memory", "error": {1}}}\n'


@pytest.mark.parametrize(("error", "found"), [("null", "healthy"), ('"connection refused"', "failed")])
def test_what_the_texts_of_records_speak_of(engine: Engine, error: str, found: str) -> None:
    log = "".join(RECORD.format(n, error) for n in range(12))
    assert (verdict(engine, log) == "healthy") == (found == "healthy")


EVENT = '{{"ts": 17600000{0}, "event": "{1}", "step": {0}, "loss": 0.{0}}}\n'


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ('{"ts": 1760000099, "event": "job_end", "status": "failed"}', "failed"),
        ('{"ts": 1760000099, "event": "job_end", "status": "ok", "exit_code": 9}', "failed"),
        ('{"ts": 1760000099, "event": "job_end", "status": "ok", "exit_code": 0}', "healthy"),
        ('{"ts": 1760000099, "event": "request", "status": "ok"}', "healthy"),
    ],
)
def test_the_last_event_tells_how_all_ended(engine: Engine, last: str, found: str) -> None:
    log = "".join(EVENT.format(n, "step") for n in range(10, 30))
    assert verdict(engine, log + last + "\n") == found


@pytest.mark.parametrize(
    ("figures", "found"),
    [
        (
            "distance 4 inf 12 nan 3 of the pumps\nwell 3 of 12 was measured, accuracy 78.4\nwell 4 was next\n",
            "healthy",
        ),
        (
            "well 3 of 12 was measured, accuracy 78.4\nwell 4 of 12 was measured, accuracy nan\n",
            "inconclusive",
        ),
        (
            "pump perplexity nan after well 2\nwell 3 of 12 was measured\nwell 4 of 12 was measured\n",
            "inconclusive",
        ),
    ],
)
def test_who_works_on_with_numbers_has_got_over_what_is_none(
    engine: Engine, figures: str, found: str
) -> None:
    assert verdict(engine, "the wells of the yard are measured\nall pumps stand\n" + figures) == found


def test_a_tally_at_level_info_takes_nothing_from_a_status_of_zero(engine: Engine) -> None:
    log = (
        '{"level": "info", "rank": 0, "done": 10, "failed": 0}\n'
        + '{"level": "info", "rank": 0, "done": 20, "failed": 1}\n'
        + '{"level": "info", "msg": "screening complete", "docked": 118, "failed": 2}\nmpirun: 0\n'
    )
    found = engine.diagnose_sources([text_source(log, name="screen.out")])
    assert (found.verdict, found.completed) == ("healthy", True)
