"""Processes that all end in the same words, which say that they are through, have got over whatever came before."""

from __future__ import annotations

import pytest

import triage
from triage.model import Source

TROUBLE = (
    "10:00:0{n}.541|ERROR|w{n}|loss is nan at step 37, gradients dropped\n"
    "10:00:0{n}.543|CRITICAL|w{n}|two bad steps in a row, restoring the weights of step 20\n"
)


def _job(last: list[str]) -> str:
    steps = "".join(f"10:00:{s:02}.0{n}0|INFO|w{n}|step {s} loss 0.{s}\n" for s in (10, 20) for n in range(4))
    trouble = "".join(TROUBLE.format(n=n) for n in range(4))
    return steps + trouble + "".join(f"10:00:40.0{n}0|INFO|w{n}|{text}\n" for n, text in enumerate(last))


def _verdict(engine: triage.Engine, text: str) -> str:
    return engine.diagnose(Source("run.console", data=text.encode())).verdict


@pytest.mark.parametrize(
    "words",
    ["reached step 120, best weights exported", "30 rounds of averaging finished", "all work is done here"],
)
def test_all_say_in_the_end_that_they_are_through(engine: triage.Engine, words: str) -> None:
    assert _verdict(engine, _job([words] * 4)) == "healthy"


@pytest.mark.parametrize(
    "last",
    [
        # one of them says something else, or that it was not well
        ["reached step 120, best weights exported"] * 3 + ["fatal: the exported weights cannot be read back"],
        ["gave up after step 37, nothing exported"] * 4,
        # what a launcher says of each of them
        [f"[wrapper] process ended, status {status}" for status in (1, 124, 124, 124)],
        # what was done is no more than the beginning
        ["initialisation of the next stage done"] * 4,
    ],
)
def test_other_last_words_prove_nothing(engine: triage.Engine, last: list[str]) -> None:
    found = engine.diagnose(Source("run.console", data=_job(last).encode()))
    assert found.completed is not True


def test_what_is_said_behind_them_counts(engine: triage.Engine) -> None:
    text = _job(["reached step 120, best weights exported"] * 4)
    died = (
        "Traceback (most recent call last):\n"
        '  File "fit.py", line 3, in <module>\n'
        "    save()\n"
        "OSError: [Errno 28] No space left on device\n"
    )
    assert _verdict(engine, text + died) == "failed"


@pytest.mark.parametrize("said", ["[launcher] run complete with batch size 16", "[supervisor] finished"])
def test_a_launcher_may_agree_behind_them(engine: triage.Engine, said: str) -> None:
    text = _job(["reached step 120, best weights exported"] * 4)
    assert _verdict(engine, f"{text}{said}\n") == "healthy"


@pytest.mark.parametrize("said", ["[launcher] copying the results failed", "[launcher] next batch done"])
def test_a_launcher_that_does_not_takes_it_back(engine: triage.Engine, said: str) -> None:
    found = engine.diagnose(
        Source(
            "run.console", data=f"{_job(['reached step 120, best weights exported'] * 4)}{said}\n".encode()
        )
    )
    assert found.completed is not True
