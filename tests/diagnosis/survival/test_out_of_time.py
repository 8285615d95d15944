"""A job that its scheduler ended at the time limit, and what an epilogue says below."""

from __future__ import annotations

import pytest

from triage import Engine, Source

STEPS = [f"step {n} loss {3 - n / 100:.2f}" for n in range(0, 100, 10)]
LIMIT = "slurmstepd: error: *** JOB 5512 ON n3 CANCELLED AT 2026-11-20T09:10:00 DUE TO TIME LIMIT ***"


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        (STEPS, ["epilog: gpu health ok", "epilog: done"], "failed"),
        (STEPS, [*STEPS, "epilog: done"], "healthy"),
    ],
)
def test_an_epilogue_does_not_say_how_the_job_ended(
    engine: Engine, above: list[str], below: list[str], expected: str
) -> None:
    log = "\n".join([*above, LIMIT, *below])
    assert engine.diagnose(Source("slurm-5512.out", data=log.encode())).verdict == expected
