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


@pytest.mark.parametrize(
    ("shown", "category"),
    [
        ("AttributeError(\"'NoneType' object has no attribute 'shards'\")", "user-code"),
        ("TypeError(\"Encoder.__init__() got an unexpected keyword argument 'dimm'\")", "user-code"),
        ("RuntimeError('No space left on device while the index was written')", "storage"),
    ],
)
def test_an_exception_shown_as_an_object_says_what_was_raised(
    engine: Engine, shown: str, category: str
) -> None:
    log = f"Error executing job with overrides: []\nError in call to target 'cluster.jobs.Encoder':\n{shown}\nfull_key: encoder\n"
    found = engine.diagnose(Source(name="job.err", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.category == category
    assert shown in found.root_cause.evidence[0].text
