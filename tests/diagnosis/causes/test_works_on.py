"""A task that was declared dead for want of heartbeats: its own log tells whether it lived on."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Hypothesis

GONE = (
    "E0712 03:03:1{rank}.110204     812 coordination_service.cc:1170] /job:jax_worker/replica:0/task:2 has been set to "
    "ERROR in coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:2 heartbeat timeout. This indicates "
    "that the remote task has failed, got preempted, or crashed unexpectedly.\n"
    "F0712 03:03:1{rank}.210204     812 client.h:77] Terminating process because the JAX distributed service detected "
    "fatal errors. This most likely indicates that another task died; see the other task logs for more details.\n"
)


def steps(minute: int, second: int, first: int, count: int) -> str:
    """Steps of five seconds."""
    return "".join(
        f"2026-07-12 03:{minute:02d}:{second + 5 * n:02d},114 INFO train] step {first + n} loss=2.{400 - n}\n"
        for n in range(count)
    )


def cause(engine: Engine, own: str) -> Hypothesis:
    """What four tasks' logs tell, of which task 2 wrote ``own``."""
    logs = {f"task-{r}.log": steps(1, 10, 100, 5) + GONE.format(rank=r) for r in (0, 1, 3)} | {
        "task-2.log": own
    }
    found = engine.diagnose([Source(name=n, path=n, data=text.encode()) for n, text in logs.items()])
    assert found.root_cause is not None
    return found.root_cause


def test_a_task_that_counts_on_was_not_dead(engine: Engine) -> None:
    found = cause(engine, steps(1, 10, 100, 5) + steps(3, 5, 105, 6))
    assert (found.category, found.origin.ranks) == ("watchdog-too-short", (2,))


@pytest.mark.parametrize("own", [steps(1, 10, 100, 5), steps(1, 10, 100, 5) + steps(2, 10, 105, 8)])
def test_a_task_that_stopped_before_the_others_gave_up_is_not_called_alive(engine: Engine, own: str) -> None:
    assert cause(engine, own).category == "rank-crash"
