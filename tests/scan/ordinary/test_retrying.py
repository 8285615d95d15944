"""Logs that break off while the same is tried again and again."""

from __future__ import annotations

import pytest

from triage import Engine, Source

BEFORE = ["INFO resolving model @ main", "INFO fetching 14 files"]


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode())).verdict


@pytest.mark.parametrize(
    "again",
    [
        "WARNING model-3.safetensors: read timed out (attempt {n}/10), sleeping {n}s",
        "WARNING Connection to redis lost: Error 111 connecting to q:6379. Trying again in {n} seconds... ({n}/100)",
        "[loader] worker 3: retry {n}/40 reading s3://b/shard-91.tar: SlowDown",
    ],
)
def test_a_log_that_ends_in_tries_has_not_got_there(engine: Engine, again: str) -> None:
    tries = [again.format(n=n) for n in range(1, 6)]
    assert verdict(engine, *BEFORE, *tries) == "failed"
    steps = [f"INFO step {n} loss {2 - n / 10:.2f}" for n in range(10)]
    assert verdict(engine, *BEFORE, *tries, *steps) == "healthy"


def test_what_a_run_does_without_may_be_tried_for_ever(engine: Engine) -> None:
    steps = [f"INFO step {n} loss {2 - n / 10:.2f}" for n in range(10)]
    tries = [f"WARNING exporting traces to localhost:4317 failed, retrying in {n}s" for n in (1, 2, 4, 8)]
    assert verdict(engine, *steps, *tries) != "failed"
