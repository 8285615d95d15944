"""Whose numbers ceased to be numbers first, where all ranks end alike."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def _job(first: dict[int, str], *, step: int = 4) -> str:
    lines = [f"[w{rank}] step {s} loss 1.{s}{rank}" for s in range(step) for rank in (1, 0, 3, 2)]
    lines += [f"[w{rank}] step {step} loss {value}" for rank, value in first.items()]
    for rank in (0, 3, 2, 1):
        lines += [
            f"[rank{rank}]: Traceback (most recent call last):",
            f'[rank{rank}]:   File "/srv/fold/run.py", line 31, in <module>',
            f'[rank{rank}]:     raise FloatingPointError(f"gradient is not finite at step {{s}}")',
            f"[rank{rank}]: FloatingPointError: gradient is not finite at step {step}",
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("said", "rank"),
    [
        ({0: "1.2", 1: "1.3", 3: "nan", 2: "1.1"}, 3),
        ({0: "1.2", 1: "inf", 3: "1.4", 2: "1.1"}, 1),
        ({0: "nan", 1: "nan", 3: "nan", 2: "nan"}, None),
        ({0: "1.2", 1: "nan", 3: "nan", 2: "1.1"}, None),
        ({3: "nan"}, 3),
    ],
)
def test_the_rank_that_was_not_finite_alone(engine: Engine, said: dict[int, str], rank: int | None) -> None:
    root = engine.diagnose([Source("job.log", data=_job(said).encode())]).root_cause
    assert root is not None
    assert root.category == "numerics"
    assert root.origin.rank == rank
