"""Whether a place of lines numbers things of different kinds: what a number means says the word before it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from triage.scan.lazy import deferred

_INTRODUCES = deferred(r"(?<![^\W\d])([^\W\d]{2,})[ =#:]{1,2}\Z")
_FEW = 8
"""The part of the records, one in so many, that a word must introduce to count."""


def of_different_things(told: Sequence[tuple[str, str]]) -> bool:
    """Whether the words right before a place are two that never have a value in common: ``record 17`` and ``epoch 2``.

    Args:
        told: what stands before the place in each record, and the value there.
    """
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for before, value in told:
        word = _INTRODUCES.search(before)
        values["" if word is None else word[1].lower()][value] += 1
    usual = [set(of) for word, of in values.items() if word and sum(of.values()) * _FEW >= len(told)]
    return any(not one & other for at, one in enumerate(usual) for other in usual[at + 1 :])
