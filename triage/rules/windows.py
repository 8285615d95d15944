"""What the scan looks for in place of anchors: short windows into them that many anchors share.

A multi-pattern scan is the faster the fewer its literals are, and three thousand anchors have a thousand
windows of a few characters in common (``unable t``, ``terminat``). Where a window is found, the anchors
that it was cut from are compared.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable

LENGTH = 8
"""Characters of a window: shorter ones turn up everywhere, longer ones are shared by few anchors."""


def choose(anchors: Iterable[str], ordinary: Iterable[str] = ()) -> dict[str, str]:
    """A window for each of ``anchors``: few different ones, and rare in ``ordinary`` text.

    Anchors that are no longer than a window are their own. The choice is greedy: the window that covers
    most of what is left, for each time that it stands in ordinary text, comes next.
    """
    literals = sorted(set(anchors))
    common: Counter[str] = Counter(gram for text in ordinary for gram in _grams(text.lower()))
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for literal in literals:
        for gram in _grams(literal):
            holders[gram].add(literal)
    chosen: dict[str, str] = {}
    left = set(literals)
    queue = [(-len(held) / (1 + common[gram]), gram) for gram, held in holders.items()]
    heapq.heapify(queue)
    while left:
        _, gram = heapq.heappop(queue)
        covered = holders[gram] & left
        worth = -len(covered) / (1 + common[gram])
        if covered and queue and worth > queue[0][0]:
            heapq.heappush(queue, (worth, gram))  # others were covered meanwhile: it is worth less now
            continue
        chosen.update(dict.fromkeys(covered, gram))
        left -= covered
    return chosen


def _grams(text: str) -> set[str]:
    if len(text) <= LENGTH:
        return {text}
    return {text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)}
