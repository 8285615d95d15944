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
