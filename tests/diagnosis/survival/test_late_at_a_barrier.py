"""A rank that was late at a monitored barrier, and came."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def steps(begin: int, end: int) -> str:
    return "".join(
        f"2026-11-20 10:{n // 20:02d}:{n % 20 * 3:02d} INFO train: step {n} loss 2.{300 - n}\n"
        for n in range(begin, end)
    )


LATE = "[rank0]:[E1120 10:00:59.103455721 ProcessGroupGloo.cpp:144] [Rank 0]: Rank 5 failed to pass monitoredBarrier in 60000 ms\n"
CAUGHT = "2026-11-20 10:01:00 WARNING health: caught RuntimeError from monitored_barrier, retrying (1/3)\n"
RAISED = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/train.py", line 99, in <module>
[rank0]:     dist.monitored_barrier(timeout=timedelta(seconds=60))
[rank0]: RuntimeError: Rank 5 failed to pass monitoredBarrier in 60000 ms
"""


def test_where_steps_are_counted_on_it_has_come(engine: Engine) -> None:
    log = steps(0, 20) + LATE + CAUGHT + steps(20, 60)
    assert engine.diagnose([Source("train.log", data=log.encode())]).verdict == "healthy"


@pytest.mark.parametrize("below", [RAISED, "", steps(20, 21)])
def test_otherwise_it_is_the_one_awaited(engine: Engine, below: str) -> None:
    root = engine.diagnose([Source("train.log", data=(steps(0, 20) + LATE + below).encode())]).root_cause
    assert root is not None
    assert root.origin.rank == 5
