"""Exceptions that only say that another process is there no more."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def root_of(engine: Engine, message: str) -> tuple[str, str]:
    log = (
        'Traceback (most recent call last):\n  File "/work/train.py", line 9, in <module>\n    main()\n'
        f'  File "/usr/lib/python3/dist-packages/rollout/pool.py", line 88, in step\n    raise RuntimeError(\nRuntimeError: {message}\n'
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    return root.rule_id, root.category


@pytest.mark.parametrize(
    "message",
    [
        "Worker process is not alive",
        "rollout output stream ended: a pipeline stage died",
        "Server process terminated unexpectedly during startup",
        "optimizer process exited during a step (likely an error in the optimizer process -- check its traceback above)",
        "the environment server (pid 4121) has crashed",
        "Processor task exited prematurely",
    ],
)
def test_who_finds_another_process_gone_is_not_at_fault(engine: Engine, message: str) -> None:
    assert root_of(engine, message) == ("unknown.process-gone", "rank-crash")


@pytest.mark.parametrize(
    "message",
    [
        "The worker process must be started before the dead letter queue is read",
        "Server exited because the configuration has no model",
        "task 3 is running already",
    ],
)
def test_who_says_why_or_speaks_of_the_living_is_heard_otherwise(engine: Engine, message: str) -> None:
    assert root_of(engine, message)[0] != "unknown.process-gone"
