"""What the scan looks for in place of anchors: short windows into them that many anchors share.

A multi-pattern scan is the faster the fewer its literals are, and the rarer the pairs of characters in
them: it throws a position away as soon as no literal goes on there. More than six thousand anchors have a
third as many windows (``unable t``, ``terminat``). Where a window is found, the anchors that it was cut
from are compared, so it should not stand in what a healthy job prints either.

Hyperscan puts literals that end alike into one of eight groups and keeps for each group which pairs may
stand at which place of its literals, whichever literal they are from: a stretch of text that has some
group's pairs at all eight places is looked at again. So windows that have the same pairs at the same
places cost less than their number says.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

LENGTH = 8
"""Characters of a window: shorter ones turn up everywhere, longer ones are shared by few anchors."""
_RARITY = 0.03
"""How much rare pairs of characters count against being shared."""
_GROUPS = 8
"""Groups of windows, by how they end."""
_ANYHOW = 0.01
"""How often a place lets a text pass that has none of its pairs there, so that the first pair isn't all."""
_SAMPLE = Path(__file__).parent / "ordinary.txt"


def ordinary() -> list[str]:
    """Lines that healthy jobs print, one of each shape; ``tools/ordinary.py`` collects them."""
    return _SAMPLE.read_text(encoding="utf-8").splitlines()


def choose(anchors: Iterable[str], ordinary: Iterable[str] = ()) -> dict[str, str]:
    """A window for each of ``anchors``: few different ones, and rare in ``ordinary`` text.

    Anchors that are no longer than a window are their own. The choice is greedy: the window that covers
    most of what is left, for each time that it stands in ordinary text, comes next. Then each is moved within
    its anchors to where it goes best with the others.
    """
    literals = sorted(set(anchors))
    text = [line.lower() for line in ordinary]
    common: Counter[str] = Counter(gram for line in text for gram in _grams(line))
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for literal in literals:
        for gram in _grams(literal):
            holders[gram].add(literal)
    weights = {gram: rare / (1 + common[gram]) for gram, rare in _rarity(holders, text).items()}
    chosen: dict[str, str] = {}
    left = set(literals)
    queue = [(-len(held) * weights[gram], gram) for gram, held in holders.items()]
    heapq.heapify(queue)
    while left:
        _, gram = heapq.heappop(queue)
        covered = holders[gram] & left
        worth = -len(covered) * weights[gram]
        if covered and queue and worth > queue[0][0]:
            heapq.heappush(queue, (worth, gram))  # others were covered meanwhile: it is worth less now
            continue
        chosen.update(dict.fromkeys(covered, gram))
        left -= covered
    return _fitted(chosen, common, Counter(pair for line in text for pair in _pairs(line)))


def _fitted(chosen: Mapping[str, str], common: Mapping[str, int], pairs: Mapping[str, int]) -> dict[str, str]:
    """Other windows for the same groups of anchors, as rare, whose pairs are at places where others have them too."""
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for anchor, window in chosen.items():
        holders[window].append(anchor)
    places = {window: _places(held, common) for window, held in holders.items() if len(window) == LENGTH}
    ends = sorted(window[-1] for window in places)
    bounds = [ends[at * len(ends) // _GROUPS] for at in range(1, _GROUPS)] if ends else []
    groups = [_Group() for _ in range(_GROUPS)]
    total = sum(pairs.values()) + 1
    fitted = dict(chosen)
    # those that can't move, or hardly, come first
    for window, grams in sorted(places.items(), key=lambda entry: (len(entry[1]), entry[0])):
        told = [(gram, groups[bisect(bounds, gram[-1])], _often(gram, pairs, total)) for gram in grams]
        gram, group, often = min(told, key=lambda one: one[1].price(one[0], one[2]))
        group.add(gram, often)
        fitted.update(dict.fromkeys(holders[window], gram))
    return fitted


def _places(anchors: Iterable[str], common: Mapping[str, int]) -> list[str]:
    """Windows that all ``anchors`` have, the rarest in ordinary text."""
    shared = set.intersection(*map(_grams, anchors))
    least = min(common[gram] for gram in shared)
    return sorted(gram for gram in shared if common[gram] == least)


def _often(gram: str, pairs: Mapping[str, int], total: int) -> list[float]:
    """The part that each pair of ``gram`` has in all pairs of ordinary text."""
    return [(pairs[pair] + 0.05) / total for pair in _pairs(gram)]


class _Group:
    """Windows that are looked for together: the pairs that stand at each place, and how often text has one of them there."""

    def __init__(self) -> None:
        self._pairs: list[set[str]] = [set() for _ in range(LENGTH - 1)]
        self._passed = [_ANYHOW] * (LENGTH - 1)

    def price(self, gram: str, often: Sequence[float]) -> float:
        """By how much more often a text would be looked at again with ``gram`` among them."""
        now = more = 1.0
        for pair, part, known, passed in zip(_pairs(gram), often, self._pairs, self._passed, strict=True):
            now *= passed
            more *= passed if pair in known else passed + part
        return more - now

    def add(self, gram: str, often: Sequence[float]) -> None:
        """Look for ``gram`` too."""
        for at, (pair, part) in enumerate(zip(_pairs(gram), often, strict=True)):
            if pair not in self._pairs[at]:
                self._pairs[at].add(pair)
                self._passed[at] += part


def _rarity(grams: Iterable[str], text: Iterable[str]) -> dict[str, float]:
    """For each of ``grams`` how rare its pairs of characters are, about 1 for the middling ones."""
    pairs: Counter[str] = Counter(pair for line in text for pair in _pairs(line))
    surprise = {gram: -sum(math.log(1 + pairs[pair]) for pair in _pairs(gram)) for gram in grams}
    middle = sum(surprise.values()) / len(surprise) if surprise else 0.0
    return {gram: math.exp(_RARITY * (value - middle)) for gram, value in surprise.items()}


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)]


def _grams(text: str) -> set[str]:
    if len(text) <= LENGTH:
        return {text}
    return {text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)}
