"""Exceptions of code that calls, answers or asks in another way than the other side knows."""

from __future__ import annotations

import pytest

from tests.diagnosis.causes.test_unclaimed import MAIN, SITE, engine_failed, frame, told, traceback
from triage import Engine

DEEP = [frame(f"{SITE}/trainkit/loop.py", name) for name in ("fit", "run", "step", "load")]


@pytest.mark.parametrize(
    ("log", "category"),
    [
        (
            traceback(
                MAIN, *DEEP, frame(f"{SITE}/hubkit/api.py", "parse"),
                ends="TypeError: FileInfo.__init__() got an unexpected keyword argument 'sharded'",
            ),
            "driver-or-version",
        ),
        (
            traceback(
                MAIN, frame(f"{SITE}/trainkit/loop.py", "fit", "return build(**options)"),
                ends="TypeError: build() got an unexpected keyword argument 'lr'",
            ),
            "user-code",
        ),
        (
            traceback(
                MAIN, *DEEP, frame(f"{SITE}/pynvml.py", "wrapper", "return res.decode()"),
                ends="UnicodeDecodeError: 'utf-8' codec can't decode byte 0xf8 in position 0: invalid start byte",
            ),
            "driver-or-version",
        ),
        (
            traceback(
                *DEEP, frame(f"{SITE}/torch/_ops.py", "__call__", "return self._op(*args, **kwargs)"),
                ends="RuntimeError: attend::plan() expected at most 15 argument(s) but received 16 argument(s)."
                " Declaration: attend::plan(Tensor a) -> Tensor",
            ),
            "driver-or-version",
        ),
        (
            traceback(
                *DEEP, frame(f"{SITE}/imagekit/utils.py", "infer", 'raise ValueError("Unable to infer the channels")'),
                ends="ValueError: Unable to infer the channels",
            ),
            "user-code",
        ),
        (
            traceback(
                *DEEP, frame(f"{SITE}/trainkit/ops.py", "mm", "assert (b.shape[0] % 16 == 0 and b.shape[1] % 16 == 0)"),
                ends="AssertionError",
            ),
            "user-code",
        ),
        (
            traceback(
                *DEEP, frame("/usr/lib/python3.12/asyncio/events.py", "get_event_loop"),
                ends="RuntimeError: There is no current event loop in thread 'Thread-4'.",
            ),
            "user-code",
        ),
        (
            traceback(
                *DEEP, frame(f"{SITE}/pydantic/main.py", "__init__"),
                ends="pydantic_core._pydantic_core.ValidationError: 1 validation error for ChatResponseChoice\n"
                "finish_reason\n  Input should be 'stop' or 'length' [type=literal_error]",
            ),
            "user-code",
        ),
        (
            traceback(
                *DEEP, frame(f"{SITE}/pydantic/main.py", "__init__"),
                ends="pydantic_core._pydantic_core.ValidationError: 1 validation error for TrainConfig\n"
                "lr\n  Input should be a valid number [type=float_type]",
            ),
            "config",
        ),
    ],
)  # fmt: skip
def test_two_sides_that_are_not_of_a_mind(engine: Engine, log: str, category: str) -> None:
    root = told(engine, log).root_cause
    assert root is not None
    assert root.category == category


def test_a_child_that_died_of_a_signal_was_refused_nothing(engine: Engine) -> None:
    log = traceback(
        frame(f"{SITE}/accelerate/commands/launch.py", "simple_launcher"),
        ends="subprocess.CalledProcessError: Command '['python', '-m', 'tune', 'config.yml']' died with <Signals.SIGTERM: 15>.",
    )
    root = told(engine, log).root_cause
    assert root is not None
    assert root.category == "unknown"


def test_an_engine_that_passes_on_a_slip_refuses_nothing(engine: Engine) -> None:
    slip = engine_failed(
        frame(f"{SITE}/vllm/attention/backends/sparse.py", "forward", "tokens, width = query.shape"),
        ends="ValueError: too many values to unpack (expected 2)\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        + frame(f"{SITE}/vllm/worker/model_runner_base.py", "_wrapper", "raise type(err)(")
        + "ValueError: Error in model execution: too many values to unpack (expected 2)",
    )
    root = told(engine, slip).root_cause
    assert root is not None
    assert (root.category, root.evidence[0].line) == ("user-code", 4)


def test_harmless_words_below_a_message_that_come_twice_do_not_make_it_harmless(engine: Engine) -> None:
    log = traceback(
        *DEEP,
        ends="NotImplementedError: Error in model execution (input dumped to /tmp/x.pkl): No operator found for this:\n"
        "`fa2` is not supported because:\n    xFormers wasn't build with CUDA support\n"
        "`cutlass` is not supported because:\n    xFormers wasn't build with CUDA support",
    )
    diagnosis = told(engine, log)
    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert "No operator found" in diagnosis.root_cause.evidence[0].text
