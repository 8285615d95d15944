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


def test_records_in_json_and_values_before_a_comma(engine: Engine) -> None:
    for line in (
        '{{"rank": {0}, "step": {1}, "norm": {2}, "time": 17954.4}}',
        "[w{0}] step {1} norm {2}, lr 0.01",
    ):
        rows = [line.format(rank, step, f"1.{step}{rank}") for step in range(6) for rank in (1, 0, 3, 2)]
        rows += [line.format(rank, 6, "NaN" if rank == 3 else "1.4") for rank in (0, 3, 2, 1)]
        for rank in (0, 2, 1, 3):
            rows += [
                f"[rank{rank}]: Traceback (most recent call last):",
                f'[rank{rank}]:   File "/srv/fold/run.py", line 31, in <module>',
                f"[rank{rank}]:     assert torch.isfinite(p).all()",
                f"[rank{rank}]: AssertionError: parameters are not finite at step 6",
            ]
        root = engine.diagnose([Source("job.log", data=("\n".join(rows) + "\n").encode())]).root_cause
        assert root is not None
        assert root.origin.rank == 3


def test_who_complains_of_numbers_is_not_the_one_in_whom_they_began(engine: Engine) -> None:
    head = "2026-11-23 07:02:17,8{1}{0} - P{0} - {2} - "
    rows = [
        head.format(r, s, "INFO") + f"step {s} local loss 1.{s}{r}" for s in range(6) for r in (1, 0, 3, 2)
    ]
    rows += [
        head.format(r, 6, "INFO") + f"step 6 local loss {'nan' if r == 3 else 1.4}" for r in (0, 3, 2, 1)
    ]
    rows += [head.format(r, 7, "ERROR") + "weights not finite after step 6, aborting" for r in (1, 3, 2, 0)]
    rows += [
        "E1123 07:02:19.468000 5812 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) local_rank: 0 "
        "(pid: 6587) of binary: /opt/venv/bin/python"
    ]
    root = engine.diagnose([Source("job.log", data=("\n".join(rows) + "\n").encode())]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("numerics", 3)
