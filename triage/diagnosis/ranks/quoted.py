"""What torchrun's table quotes of a rank: the traceback that its process left in its error file."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.job import Item

LISTED = "torch.child-failed-entry"
"""What a row of the table is."""
_MOST_LINES = 300
"""Lines of a traceback below the row of its rank."""
_BELOW = "  "
"""What stands before each line of an error file in the table."""


def by_row(items: Sequence[Item]) -> list[Item]:
    """``items`` with the rank of the row in whose traceback they stand, where their lines name nobody."""
    rows: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if item.rule.id == LISTED:
            rows[item.finding.source].append(item)
    if not rows:
        return list(items)
    for listed in rows.values():
        listed.sort(key=_offset)
    return [_of_its_row(item, rows.get(item.finding.source, ())) for item in items]


def _of_its_row(item: Item, rows: Sequence[Item]) -> Item:
    finding = item.finding
    if finding.rank is not None or not finding.evidence or not finding.evidence[0].text.startswith(_BELOW):
        return item
    place = bisect_right(rows, finding.offset, key=_offset) - 1
    if place < 0 or rows[place] is item or rows[place].text("said") is not None:
        return item
    row = rows[place]
    if (finding.evidence[0].line or 0) - (row.finding.evidence[-1].line or 0) > _MOST_LINES:
        return item
    return Item(replace(finding, rank=row.number("rank")), item.rule)


def _offset(item: Item) -> int:
    return item.finding.offset
