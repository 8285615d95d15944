"""Attempts: a launcher that restarts its workers leaves several tries in one log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.diagnosis.job import Item, compare
from triage.model import Source

MAX_ATTEMPTS = 64


def split(items: Sequence[Item], sources: Sequence[Source]) -> list[list[Item]]:
    """The items of each attempt, in order; a single list when nothing was restarted.

    A restart line divides its own source by position and the others by time; sources that carry
    an attempt number in their path belong to it.
    """
    labelled = {i: s.attempt for i, s in enumerate(sources) if s.attempt is not None}
    boundaries = _boundaries(items)
    if not boundaries and len(set(labelled.values())) < 2:
        return [list(items)]
    attempts: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        label = labelled.get(item.finding.source)
        attempts[_number(item, boundaries) if label is None else label].append(item)
    return [attempts[number] for number in sorted(attempts)][:MAX_ATTEMPTS]


def _boundaries(items: Sequence[Item]) -> list[Item]:
    """Restart lines, one per restart: several nodes' agents announce the same one."""
    restarts = [i for i in items if i.rule.fact == "restart"]
    by_source: dict[int, list[Item]] = defaultdict(list)
    for item in restarts:
        by_source[item.finding.source].append(item)
    return max(by_source.values(), key=len, default=[])


def _number(item: Item, boundaries: Sequence[Item]) -> int:
    """How many restarts came before ``item``; what can't be ordered belongs to the first try."""
    return sum(1 for b in boundaries if compare(item.finding, b.finding) == 1)
