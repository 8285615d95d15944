"""What programs print of an exception that they catch: its words, and mostly not its name."""

from __future__ import annotations

import pytest

from triage import Engine, Source


@pytest.mark.parametrize(
    "words",
    [
        "name 'nseqs' is not defined",
        "'tuple' object does not support item assignment",
        "Planner.run() missing 1 required positional argument: 'goal'",
        "list index out of range",
    ],
)
def test_what_python_says_of_a_slip_is_the_programs_own(engine: Engine, words: str) -> None:
    log = f"2026-03-01 10:00:00,709 - root - INFO - planning\n2026-03-01 10:00:07,709 - root - ERROR - Error running the planner: {words}\n"
    found = engine.diagnose(Source(name="job.err", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.category == "user-code"
    assert words in found.root_cause.evidence[0].text
