"""The year that clocks without one lack, from lines that state it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.job import Item


def year_of(items: Sequence[Item]) -> int | None:
    """The year that year-less clocks lack, from lines that state one on about the same days of the year."""
    from triage.scan.clock import iso, with_year

    days: dict[int, Counter[int]] = defaultdict(Counter)
    bare = {time for item in items if (time := item.finding.time) is not None and time.clock == "yearless"}
    for item in items:
        time = item.finding.time
        if time is not None and time.clock == "wall":
            text = iso(time, None)
            if text:
                days[int(text[:4])][int(time.seconds // _DAY)] += 1
    if not days:
        return None
    near: Counter[int] = Counter()
    for year, told in days.items() if len(days) > 1 else ():
        here = {int(with_year(time, year).seconds // _DAY) for time in bare}
        near[year] = sum(n for day, n in told.items() if not here.isdisjoint(range(day - 2, day + 3)))
    return max(sorted(days), key=lambda year: (near[year], days[year].total()))


_DAY = 86400


def dated(item: Item, year: int) -> Item:
    """``item`` with its year-less times put on the calendar, so that loggers can be compared."""
    from triage.scan.clock import with_year

    finding = item.finding
    first, last = finding.time, finding.last_time
    if first is None or first.clock != "yearless":
        return item
    return Item(
        replace(
            finding,
            time=with_year(first, year),
            last_time=with_year(last, year) if last is not None and last.clock == "yearless" else last,
        ),
        item.rule,
    )
