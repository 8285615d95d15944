"""Which lines begin another run of what a source began with, where several runs were appended to one log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.diagnosis.job import Item

OPENS = "opens"
"""The fact that the first lines of a source stand somewhere again."""
OVER = "_over"
"""The field that marks a beginning before which all processes of the last run have raised something."""
_BESIDE = 8 << 10
"""Bytes in which the lines of one beginning stand."""


def openings(items: Sequence[Item]) -> Mapping[int, list[Item]]:
    """By source, where another run may begin: surely where what has begun before has ended by then, as often as it had begun.

    Every process of a job may begin with the same words; while one of them has not ended, the run is the same.
    """
    told: dict[int, list[Item]] = defaultdict(list)
    ends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item in items:
        finding = item.finding
        if item.rule.fact == OPENS:
            told[finding.source].append(item)
        elif item.rule.fact == "exception" and finding.raised and finding.level is None:
            # of equal ones, the first and the last place are known
            last = finding.offset if finding.last_offset is None else finding.last_offset
            ends[finding.source] += [(finding.offset, 1), (last, finding.count - 1)]
    return {source: _anew(lines, ends.get(source, ())) for source, lines in told.items()}


def told(items: Sequence[Item]) -> list[Item]:
    """``items`` without where a source begins: that says nothing else."""
    return [item for item in items if item.rule.fact != OPENS]


def _anew(lines: Sequence[Item], ends: Sequence[tuple[int, int]]) -> list[Item]:
    """Where the same one of ``lines`` stands; with a mark where all that had begun before has raised something."""
    by_line: dict[int, list[Item]] = defaultdict(list)
    for item in lines:
        by_line[item.number("which") or 0].append(item)
    last = max(item.finding.offset for item in lines)
    # scripts change: of the lines with which the last run begins, the first
    chosen = next(
        (told for _, told in sorted(by_line.items()) if told[-1].finding.offset > last - _BESIDE), None
    )
    found: list[Item] = []
    begun, since = 0, -1
    for item in sorted(chosen or (), key=lambda i: i.finding.offset):
        over = sum(times for at, times in ends if since < at < item.finding.offset)
        if begun and over >= begun:
            item = Item(replace(item.finding, fields={**item.finding.fields, OVER: True}), item.rule)
            begun, since = 0, item.finding.offset
        found.append(item)
        begun += 1
    return found
