"""What a program shows as a text, a prompt or an answer, did not befall it."""

from __future__ import annotations

import pytest

from triage import Engine, Source

RAISED = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x\nNameError: name 'x' is not defined\n"


def judged(answers: int, label: str) -> str:
    return "".join(
        f"### sample {n}\nPROMPT: what does this mean?\n{label}{RAISED if n % 3 == 1 else 'nothing at all'}\njudge: {n % 5}/5\n"
        for n in range(answers)
    )


@pytest.mark.parametrize("label", ["ANSWER: ", "Model response: ", "ANSWER:\n"])
def test_a_traceback_in_an_answer_was_not_raised(engine: Engine, label: str) -> None:
    log = f"{judged(12, label)}mean judge score 2.1 over 12 samples\n"
    assert engine.diagnose(Source("judge.log", data=log.encode())).verdict == "healthy"


@pytest.mark.parametrize("label", ["", "worker 3: "])
def test_any_other_traceback_was(engine: Engine, label: str) -> None:
    log = f"{judged(12, 'ANSWER: no')}{label}{RAISED}"
    assert engine.diagnose(Source("judge.log", data=log.encode())).verdict == "failed"
