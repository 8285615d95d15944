"""Whose words an unknown message uses: a linear model of the words of all messages that rules know.

The model is learned by ``tools/learn_lexicon.py`` from the rules' examples, titles and summaries, from the
deciding lines of the fixtures and from messages of many packages that were labelled by hand (``tools/lexicon``);
``lexicon.json`` beside this file holds it as plain numbers. Nothing is learned while logs are read, so the same
words always get the same answer.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from triage.scan.lazy import deferred

ORDINARY = "none"
"""What the model calls words of runs that were well."""
SCALE = 1000
"""Weights are kept as integers: this is 1."""
HOME = os.path.join(os.path.dirname(__file__), "lexicon.json")
_OF_PYTHON = deferred(
    r"\b(?:Assertion|Attribute|Index|Key|Lookup|Name|NotImplemented|Runtime|Type|UnboundLocal|Value)Error\b|\bException\b"
)
"""Python's own exceptions are raised for everything: their names would drown the words."""
_RAISED = deferred(r"(?:^|[\s.])([A-Z]\w+(?:Error|Exception)): ")
"""They tell something all the same, as a feature of its own."""
_ENDINGS = deferred(r"(?:ing|ed|s|es|ly|ion|ions|able|ment|ments|er|ers)$")
_LONG = 5
"""Shorter words have no endings."""
_HUMP = deferred(r"([a-z])([A-Z])")
_WORD = deferred(r"[a-z]{2,}|(?<![\w.])-?\d{1,3}(?![\w.])")
_IDEOGRAMS = deferred("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_MAX_TEXT = 2000
_TELLING = 3
_SAYING = 400
"""How rare a word must be to be named: "has" and "the" may speak for a category, but tell a reader nothing."""
_BARE = frozenset(
    [
        "does",
        "not",
        "does not",
        "did",
        "did not",
        "do",
        "do not",
        "no",
        "is",
        "is not",
        "was",
        "was not",
        "has",
        "of",
        "the",
    ]
)
"""Words that say nothing by themselves: where no other told, nothing did."""
_MARKS = frozenset("~!")
"""What stems and names of exceptions begin with: they are no words to be shown."""
LEAST_WORDS = 3
"""Known words without which nothing is said of a text."""


@dataclass(slots=True, eq=False, repr=False)
class Likeness:
    """The category whose messages use such words.

    ``margin`` is how far it is ahead of the next, ``ahead`` of words of runs that were well; 0.2 is little
    and 0.6 much. ``words`` are those that told most, ``next`` the category that comes after.
    """

    category: str
    margin: float
    ahead: float
    words: tuple[str, ...]
    next: str
    scores: Mapping[str, float]

    def over(self, category: str) -> float:
        """How far ahead of ``category`` it is."""
        return (self.scores[self.category] - self.scores.get(category, self.scores[self.category])) / SCALE


class Weights:
    """The weights, as the file holds them: a line a feature, in order. Few are asked for, and only these are read."""

    def __init__(self, text: str) -> None:
        head, *self._lines = text.splitlines()
        kept = json.loads(f"{head}}}}}")
        self.categories: Sequence[str] = kept["categories"]
        self.bias: Sequence[int] = kept["bias"]
        self._read: dict[str, Sequence[int]] = {}

    def of(self, feature: str) -> Sequence[int] | None:
        """How rare a feature is, and after it pairs of a category's position and a weight; None where it is unknown."""
        known = self._read.get(feature)
        if known is None:
            at = bisect_left(self._lines, feature, key=_feature)
            if at < len(self._lines) and _feature(self._lines[at]) == feature:
                entry = self._lines[at].partition(":")[2].rstrip(",")
                known = self._read[feature] = json.loads(entry)
        return known


def _feature(line: str) -> str:
    """Which feature a line of the file tells of; those below the last tell of none."""
    return line[1 : line.index('"', 1)] if line[:1] == '"' else "\U0010ffff"


def features(text: str) -> list[str]:
    """What the model knows a text by: its words and their stems, pairs of neighbours (with small numbers), pairs of
    ideograms, and the names of what was raised."""
    raised = [f"!{name}" for name in _RAISED.findall(text[-_MAX_TEXT:])]
    text = _OF_PYTHON.sub(" ", text[-_MAX_TEXT:])
    words = _WORD.findall(_HUMP.sub(r"\1 \2", text).lower())
    found = [word for word in words if word[-1].isalpha()]
    found += [f"~{_ENDINGS.sub('', word)}" if len(word) > _LONG else f"~{word}" for word in found]
    found += [f"{one} {other}" for one, other in pairwise(words) if one[-1].isalpha()]
    for run in () if text.isascii() else _IDEOGRAMS.findall(text):
        found += [run[at : at + 2] for at in range(len(run) - 1)]
    return list(dict.fromkeys([*found, *raised]))


def likeness(text: str, least: int = LEAST_WORDS, without: str | None = None) -> Likeness | None:
    """What kind of failure speaks like ``text``; None where fewer than ``least`` of its words are known.

    Args:
        without: a category that it is known not to be.
    """
    model = _model()
    known = [(feature, entry) for feature in features(text) if (entry := model.of(feature))]
    if sum(" " not in feature and feature[0] not in _MARKS for feature, _ in known) < least:
        return None
    length = sqrt(sum(entry[0] ** 2 for _, entry in known))
    scores = [float(value) for value in model.bias]
    shares: dict[int, list[tuple[float, str]]] = {}
    for feature, (rarity, *weights) in known:
        for position, weight in zip(weights[::2], weights[1::2], strict=True):
            share = weight * rarity / length
            scores[position] += share
            shares.setdefault(position, []).append((share, feature))
    ordinary = scores.pop(model.categories.index(ORDINARY))
    names = [name for name in model.categories if name != ORDINARY]
    if without is not None:
        scores.pop(names.index(without))
        names.remove(without)
    order = sorted(range(len(names)), key=lambda position: -scores[position])
    best = order[0]
    of_best = sorted(shares.get(model.categories.index(names[best]), ()), reverse=True)
    rarity_of = {feature: entry[0] for feature, entry in known}
    telling = [entry for entry in of_best if rarity_of[entry[1]] >= _SAYING and entry[1][0] not in _MARKS][
        :_TELLING
    ]
    if _BARE.issuperset(word for _, word in telling):
        return None
    return Likeness(
        names[best],
        (scores[best] - scores[order[1]]) / SCALE,
        (scores[best] - ordinary) / SCALE,
        tuple(word for share, word in telling if share > 0),
        names[order[1]],
        dict(zip(names, scores, strict=True)),
    )


@lru_cache(maxsize=1)
def _model() -> Weights:
    with open(HOME, encoding="utf-8") as stream:
        return Weights(stream.read())
