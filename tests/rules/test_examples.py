"""Every example of every shipped rule, through the whole engine."""

from __future__ import annotations

from triage.rules.loader import load_rules
from triage.ruletests import run_examples


def test_all_examples_behave_and_there_are_no_thieves() -> None:
    tally = run_examples(load_rules())
    assert tally.examples > 600
    assert [str(f) for f in tally.failures] == []


def test_the_catalogue_is_as_large_as_promised() -> None:
    rules = load_rules()
    assert len(rules) >= 300
    assert sum(r.role == "benign" for r in rules.values()) >= 60
