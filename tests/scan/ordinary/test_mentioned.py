"""Exceptions that a program's logger mentions last of all, above what a script says in any case."""

from __future__ import annotations

from triage import Engine, Source

ERROR = "INFO 10:01:24 OSError: /data/corpus/train.bin: Stale file handle"
SCRIPT = ["entrypoint: train.py returned, uploading logs", "entrypoint: done"]


def verdict(engine: Engine, *lines: str) -> str:
    head = [
        "entrypoint: starting train.py",
        "INFO 10:01:19 loading tokenizer",
        "INFO 10:01:22 building dataset",
    ]
    return engine.diagnose(Source("job.log", data="\n".join([*head, *lines]).encode())).verdict


def test_the_last_thing_that_a_logger_says_is_how_its_program_ended(engine: Engine) -> None:
    assert verdict(engine, ERROR, *SCRIPT) == "failed"


def test_a_logger_that_goes_on_got_over_it(engine: Engine) -> None:
    steps = [f"INFO 10:0{2 + n}:00 step {n} loss {5 - n / 2:.2f}" for n in range(6)]
    assert verdict(engine, ERROR, *steps, *SCRIPT) == "healthy"


def test_what_is_met_after_the_work_is_done_takes_nothing_from_it(engine: Engine) -> None:
    assert verdict(engine, "INFO 10:08:00 saved model to out/model.safetensors", ERROR, *SCRIPT) == "healthy"


def test_the_work_that_is_left_with_an_exception_has_ended_with_it(engine: Engine) -> None:
    for left in ("main loop left: ", "fit() ended with ", "training stopped: "):
        assert (
            verdict(engine, f"INFO 10:01:24 {left}OSError: /data/train.bin: Stale file handle", *SCRIPT)
            == "failed"
        )
        assert verdict(engine, f"INFO 10:01:24 {left}as planned", *SCRIPT) == "healthy"
