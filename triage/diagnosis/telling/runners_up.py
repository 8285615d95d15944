"""What is told beside the root cause: each says something else than it, and none is surer than the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triage.model import Hypothesis

_BY_WORDS = "unknown."
"""Rules that judge what no other knows: of the root cause's own kind they only say the same with less knowledge."""


def runners_up(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """``hypotheses``, the first of which is the root cause, without those that add nothing to it."""
    told: list[Hypothesis] = []
    for one in hypotheses:
        if told and one.rule_id.startswith(_BY_WORDS) and one.category == told[0].category:
            continue
        if told and one.confidence > told[-1].confidence:
            one = replace(one, confidence=told[-1].confidence)
        told.append(one)
    return told
