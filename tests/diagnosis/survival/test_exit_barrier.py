"""An agent that waits at its exit for others, after its own workers have ended well."""

from __future__ import annotations

import pytest

from triage import Engine, Source

AGENT = "1120 10:3{minute}:00.120000 4001 torch/distributed/elastic/agent/server/api.py:917] "
STEPS = "".join(f"2026-11-20 10:29:{n:02d} INFO train: step {n} loss 2.{300 - n}\n" for n in range(40))
FINISHED = "2026-11-20 10:29:58 INFO train: Training finished\n"
SUCCEEDED = f"I{AGENT.format(minute=0)}Local worker group finished (WorkerState.SUCCEEDED). Waiting 300 seconds for other agents\n"
BARRIER = """Error waiting on exit barrier. Elapsed: 300.0011 seconds
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/agent/server/api.py", line 922, in _exit_barrier
    store_util.barrier(
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/elastic/utils/store.py", line 224, in barrier
    store.wait([last_member_key])
torch.distributed.DistStoreError: {why}"""


def waited(why: str) -> str:
    """What such an agent logs, each line with its own head, as torch 2.3 and later do."""
    return "".join(f"E{AGENT.format(minute=5)}{line}\n" for line in BARRIER.format(why=why).split("\n"))


@pytest.mark.parametrize(
    "why", ["Socket Timeout", "wait timeout after 300000ms, keys: /terminal_state/last_member"]
)
def test_the_run_had_ended_well(engine: Engine, why: str) -> None:
    log = STEPS + FINISHED + SUCCEEDED + waited(why)
    found = engine.diagnose([Source("node0.log", data=log.encode())])
    assert (found.verdict, found.completed) == ("healthy", True)


@pytest.mark.parametrize("above", [STEPS + SUCCEEDED, STEPS + FINISHED, STEPS])
def test_where_either_is_missing_others_may_have_failed(engine: Engine, above: str) -> None:
    found = engine.diagnose([Source("node0.log", data=(above + waited("Socket Timeout")).encode())])
    assert found.verdict == "failed"
