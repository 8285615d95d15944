"""Patterns with many alternatives are asked only of lines that have one of some words in them: nothing may be lost by that."""

from __future__ import annotations

import pytest

from triage.engine import Engine
from triage.scan.closing import outcome, wordings


@pytest.fixture
def messages(engine: Engine) -> list[str]:
    """The lines of all rules' examples."""
    texts = [
        text
        for rule in engine.rules.values()
        for text in (*(example.log for example in rule.positive), *rule.negative)
    ]
    return sorted({line for text in texts for line in text.splitlines()})


def test_no_line_that_speaks_of_trouble_is_passed_over(
    messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [wordings.speaks_of_trouble(line) for line in messages]
    monkeypatch.setattr(wordings, "_may_speak_of_trouble", lambda text: True)
    assert [wordings.speaks_of_trouble(line) for line in messages] == quick
    assert 0.05 < sum(quick) / len(quick) < 0.95


def test_no_outcome_is_passed_over(messages: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [outcome.tells_of_failure(line) for line in messages]
    monkeypatch.setattr(outcome, "_STEMS", ("",))
    assert [outcome.tells_of_failure(line) for line in messages] == quick
    assert any(quick)


@pytest.mark.parametrize(
    "line",
    [
        "12 experiments run: 10 ok, 2 failed (exp_05 exp_09)",
        "3 settings skipped: out of memory",
        "Number of errored trials: 1",
        "gpu5 volatile corrected ECC errors: 2, uncorrected: 0",
        "eval: 20 episodes, success 0.65, crashed 0.25, timeout 0.10",
        "fatal-class recall 0.77, failure rate 1.6 %",
    ],
)
def test_a_tally_of_which_most_went_well_is_no_trouble(line: str) -> None:
    assert not wordings.speaks_of_trouble(line)


@pytest.mark.parametrize(
    "line",
    [
        "7 workers ok, 1 failed",
        "12 experiments run: 0 ok, 12 failed",
        "gpu5 volatile corrected ECC errors: 2, uncorrected: 4",
    ],
)
def test_a_tally_of_processes_or_of_nothing_is_trouble(line: str) -> None:
    assert wordings.speaks_of_trouble(line)


@pytest.mark.parametrize(
    ("line", "trouble"),
    [
        ("Cannot find suitable count function for <class 'nn.Dropout2D'>. Treat it as zero FLOPs.", False),
        ("unable to read the cache, falling back to the default", False),
        ("cannot open the shared index; using the local copy instead", False),
        ("cannot open the shared index. Treat this as an emergency", True),
        ("unable to read the cache, using 3 workers", True),
    ],
)
def test_who_says_in_the_same_breath_what_is_done_instead_is_in_no_trouble(line: str, trouble: bool) -> None:
    assert wordings.speaks_of_trouble(line) is trouble
