"""Work that nobody says has failed, and that never came to its end."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source


def diagnosis(engine: Engine, *lines: str) -> Diagnosis:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode()))


def answers(status: str, count: int) -> list[str]:
    return [
        f'INFO:     10.0.0.{at % 4}:{50000 + at} - "POST /v1/completions HTTP/1.1" {status}'
        for at in range(count)
    ]


UP = (
    "INFO:     Started server process [41]",
    "INFO:     Application startup complete.",
    "INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)",
)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Service Unavailable"])
def test_a_server_that_answers_nothing_but_errors_to_the_end_serves_nobody(
    engine: Engine, status: str
) -> None:
    found = diagnosis(engine, *UP, *answers("200 OK", 9), *answers(status, 20))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "unknown.answers-with-errors"


def test_a_server_that_answers_again_has_got_over_it(engine: Engine) -> None:
    busy = answers("503 Service Unavailable", 20)
    assert diagnosis(engine, *UP, *answers("200 OK", 9), *busy, *answers("200 OK", 3)).verdict == "healthy"


def test_a_server_that_closes_refuses_what_still_comes(engine: Engine) -> None:
    lines = [*UP, *answers("200 OK", 9), "INFO:     Shutting down", *answers("503 Service Unavailable", 20)]
    assert diagnosis(engine, *lines).verdict == "healthy"


def started(silent: int | None, *below: str) -> list[str]:
    steps = (
        "Starting to load model /models/m ...",
        "Loading weights took 58.20 seconds",
        "Model loading took 32.8894 GiB and 60.1 seconds",
    )
    return [
        f"(Worker_TP{rank} pid={812 + rank}) INFO 03-02 10:0{at}:00 [gpu_model_runner.py:26] {step}"
        for at, step in enumerate(steps)
        for rank in range(4)
        if rank != silent or not at
    ] + [*below]


def test_who_says_nothing_more_while_all_others_start_is_named(engine: Engine) -> None:
    found = diagnosis(engine, *started(2))
    assert found.root_cause is not None
    assert found.root_cause.rule_id == "unknown.silent-at-start"
    assert found.root_cause.origin.rank == 2


def test_a_start_that_comes_to_its_end_leaves_nobody_behind(engine: Engine) -> None:
    up = "(APIServer pid=712) INFO:     Application startup complete."
    assert diagnosis(engine, *started(None, up)).verdict == "healthy"
    assert diagnosis(engine, *started(2, up)).verdict == "healthy"


def saving(gone: str, *done: str) -> list[str]:
    lines = [f"[rank 0] step {at} loss {3 - at / 500:.3f}" for at in range(0, 100, 10)]
    lines.append("[rank 0] step 100: checkpoint queued for background write to /ckpt/step_100")
    lines.append(f"[rank 0] {gone}")
    lines += [f"[rank 0] step {at} loss {3 - at / 500:.3f}" for at in range(100, 200, 10)]
    lines.append("[rank 0] step 200: checkpoint queued for background write to /ckpt/step_200")
    return [*lines, *done, *(f"[rank 0] step {at} loss {3 - at / 500:.3f}" for at in range(200, 300, 10))]


DIED = "async checkpoint writer died: OSError: [Errno 116] Stale file handle (ignoring)"


def test_a_writer_of_checkpoints_that_died_writes_none_any_more(engine: Engine) -> None:
    found = diagnosis(engine, *saving(DIED))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.category in {"storage", "checkpoint"}


@pytest.mark.parametrize(
    ("gone", "done"),
    [
        (DIED, ["[rank 0] checkpoint /ckpt/step_200 committed"]),
        (f"{DIED}, restarting it", []),
        ("async checkpoint writer: step_100 committed", []),
    ],
)
def test_a_checkpoint_that_came_there_shows_that_they_are_written(
    engine: Engine, gone: str, done: list[str]
) -> None:
    assert diagnosis(engine, *saving(gone, *done)).verdict == "healthy"


def turns(words: str, until: int = 10) -> list[str]:
    lines = []
    for at in range(24):
        for worker in range(5):
            if worker == 3 and at == until:
                lines.append(f"worker 3: {words}")
            elif worker != 3 or at < until:
                lines.append(f"[{at * 5 + worker}/120] worker {worker}: document tokenised")
    return [*lines, "all workers joined"]


def test_who_complained_and_is_never_heard_again_left_its_work_undone(engine: Engine) -> None:
    lost = "caught UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0"
    found = diagnosis(engine, *turns(lost))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.category == "data-loading"


@pytest.mark.parametrize(
    "words",
    [
        "nothing left for me, done",
        "died, its documents are redistributed",
        "lost its lease, restarting",
    ],
)
def test_who_leaves_its_work_to_others_or_has_none_left_is_not_missed(engine: Engine, words: str) -> None:
    assert diagnosis(engine, *turns(words)).verdict == "healthy"


def test_what_failed_once_is_nothing_where_nobody_ever_says_that_one_is_there(engine: Engine) -> None:
    begun = "checkpoint /ckpt/last failed to load (first run), starting from scratch"
    assert diagnosis(engine, *saving(begun)).verdict == "healthy"
    assert (
        diagnosis(engine, *saving("checkpoint step_100 failed: TimeoutError: timed out")).verdict == "healthy"
    )


def test_a_log_that_is_read_while_they_start_leaves_nobody_behind(engine: Engine) -> None:
    assert diagnosis(engine, *started(3)[:-1]).verdict == "healthy"
