"""Whose exception it is that another process passes on under its own words."""

from __future__ import annotations

import pytest

from triage import Engine, Source

STACK = """\
Traceback (most recent call last):
  File "/srv/ps.py", line 8, in work
    x = 1 / lr
ZeroDivisionError: float division by zero
"""


@pytest.mark.parametrize(
    ("above", "rank"),
    [
        ("[ps] worker 3 failed:", 3),
        ("part 5: eval-3 failed with ZeroDivisionError", 3),
        ("dataset 3 failed, going on with the next", None),
        ("worker 2 failed, and worker 3 failed", None),
        ("[ps] worker 3 at step 9", None),
    ],
)
def test_who_is_said_to_have_failed_right_above(engine: Engine, above: str, rank: int | None) -> None:
    text = "".join(f"[ps] worker {n} at step {step}\n" for step in (0, 5) for n in range(4))
    found = engine.diagnose([Source("ps.log", data=f"{text}{above}\n{STACK}[ps] stopping\n".encode())])
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == rank
