"""Ray Train starts its workers anew after a failure: what fails then is told of by itself."""

from __future__ import annotations

from triage import Engine, Source
from triage.model import Diagnosis

CONTROLLER = "(TrainController pid=71) "
PREEMPTED = """\
[FailurePolicy] {decision}
  Source: preemption
  Error count: 1 (max allowed: {allowed})
Error: Training failed due to worker errors:
[Rank 1 Error Snippet]:
The actor died unexpectedly before finishing this task.
\tclass_name: RayTrainWorker
The actor died because its node has died. Node Id: b157
\tthe actor's node was preempted: spot reclaim
"""
AGAIN = "Attempting to start training worker group of size 2 with the following resources: [{'GPU': 1}] * 2\n"
WORKER = "(RayTrainWorker pid=711, ip=10.0.0.4) "
FULL = """\
Traceback (most recent call last):
  File "/app/train.py", line 88, in save
    torch.save(state, path)
OSError: [Errno 28] No space left on device: '/ckpt/epoch_4'
"""


def told(who: str, text: str) -> str:
    """Lines with their writer before them."""
    return "".join(who + line for line in text.splitlines(keepends=True))


def steps(first: int, minute: int) -> str:
    """Steps of a worker."""
    return told(
        WORKER,
        "".join(
            f"2026-07-12 03:{minute:02d}:{10 + n:02d} INFO step {first + n} loss=1.9{n}\n" for n in range(6)
        ),
    )


def diagnosed(engine: Engine, text: str) -> Diagnosis:
    """What one log tells."""
    return engine.diagnose([Source(name="ray.log", path="ray.log", data=text.encode())])


def test_what_fails_after_a_new_start_is_the_cause(engine: Engine) -> None:
    lost = told(CONTROLLER, PREEMPTED.format(decision="RETRY", allowed=3) + AGAIN)
    found = diagnosed(
        engine, told(CONTROLLER, AGAIN) + steps(100, 1) + lost + steps(104, 4) + told(WORKER, FULL)
    )
    assert found.root_cause is not None
    assert found.root_cause.category == "storage"
    assert len(found.attempts) > 1


def test_a_preemption_after_which_nothing_starts_is_the_cause(engine: Engine) -> None:
    lost = told(CONTROLLER, PREEMPTED.format(decision="RAISE", allowed=0))
    found = diagnosed(engine, told(CONTROLLER, AGAIN) + steps(100, 1) + lost)
    assert found.root_cause is not None
    assert found.root_cause.category == "scheduler"
