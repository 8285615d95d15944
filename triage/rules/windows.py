"""What the scan looks for in place of anchors: short windows into them that many anchors share.

A multi-pattern scan is the faster the fewer its literals are, and the rarer the pairs of characters in
them: it throws a position away as soon as no literal goes on there. Nearly four thousand anchors have a
third as many windows (``unable t``, ``terminat``). Where a window is found, the anchors that it was cut
from are compared, so it should not stand in what a healthy job prints either.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

LENGTH = 8
"""Characters of a window: shorter ones turn up everywhere, longer ones are shared by few anchors."""
_RARITY = 0.1
"""How much rare pairs of characters count against being shared."""
_SAMPLE = Path(__file__).parent / "ordinary.txt"


def ordinary() -> list[str]:
    """Lines that healthy jobs print, one of each shape; ``tools/ordinary.py`` collects them."""
    return _SAMPLE.read_text(encoding="utf-8").splitlines()


def choose(anchors: Iterable[str], ordinary: Iterable[str] = ()) -> dict[str, str]:
    """A window for each of ``anchors``: few different ones, and rare in ``ordinary`` text.

    Anchors that are no longer than a window are their own. The choice is greedy: the window that covers
    most of what is left, for each time that it stands in ordinary text, comes next.
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
    return chosen


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
