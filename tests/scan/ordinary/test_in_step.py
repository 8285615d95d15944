"""Who says another number of a step than all others, where all had agreed upon every step before."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def _job(numbers: dict[int, list[int]]) -> str:
    """One log: what each rank says of its steps, and all of them waiting in vain."""
    steps = max(map(len, numbers.values()))
    lines = [
        f"{1795407900 + step}.770 | g{rank} | epoch {step} leader {numbers[rank][step]}"
        for step in range(steps)
        for rank in (2, 0, 3, 1)
        if step < len(numbers[rank])
    ]
    for rank in numbers:
        lines += [
            f"[rank{rank}]: Traceback (most recent call last):",
            f'[rank{rank}]:   File "/srv/fold/run.py", line 8, in <module>',
            f"[rank{rank}]:     dist.broadcast(w, src)",
            f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting "
            "15000ms for recv operation to complete",
        ]
    return "\n".join(lines) + "\n"


ALIKE = [0, 1, 2, 3, 0, 1, 2]


@pytest.mark.parametrize(
    ("numbers", "rule"),
    [
        ({0: ALIKE, 1: ALIKE, 2: ALIKE, 3: [0, 1, 2, 3, 0, 0, 0]}, "ledger.out-of-step"),
        # they never agree, as losses don't
        ({0: [1, 2, 3, 4], 1: [5, 6, 7, 8], 2: [9, 1, 2, 3], 3: [4, 5, 6, 7]}, None),
        # two of four
        ({0: ALIKE, 1: ALIKE, 2: [0, 1, 2, 3, 0, 0, 0], 3: [0, 1, 2, 3, 0, 0, 0]}, None),
    ],
)
def test_the_one_that_left_what_all_agreed_upon(
    engine: Engine, numbers: dict[int, list[int]], rule: str | None
) -> None:
    root = engine.diagnose([Source("job.log", data=_job(numbers).encode())]).root_cause
    assert root is not None
    if rule is None:
        assert root.rule_id != "ledger.out-of-step"
    else:
        assert (root.rule_id, root.origin.rank) == (rule, 3)
        assert "epoch 5 leader 0" in root.evidence[0].text
