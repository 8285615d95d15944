"""What is told beside the root cause: each says something else than it, and none is surer than the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triage.model import Hypothesis

_BY_WORDS = "unknown."
"""Rules that judge what no other knows."""


def runners_up(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """``hypotheses``, the first of which is the root cause, without those that add nothing to it."""
    told: list[Hypothesis] = []
    for one in hypotheses:
        if told and one.category == told[0].category and _says_the_same(one, told[0]):
            continue
        if told and one.confidence > told[-1].confidence:
            one = replace(one, confidence=told[-1].confidence)
        told.append(one)
    return told


def _says_the_same(one: Hypothesis, root: Hypothesis) -> bool:
    """Whether another of the root cause's own kind only knows less of it, or rests on lines that are shown with it."""
    shown = {(piece.path, piece.line) for piece in root.evidence if piece.line is not None}
    return one.rule_id.startswith(_BY_WORDS) or any((e.path, e.line) in shown for e in one.evidence[:1])
