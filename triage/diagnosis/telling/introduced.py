"""How processes that did not find each other introduced themselves: who gives a number that another gives too, or that no other gives."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from triage.diagnosis.job import Item, Job
from triage.model import Evidence
from triage.scan.ordinary.said import without_digits
from triage.scan.prefix import split_line

_NUMBER = re.compile(r"\d+")


def at_odds(job: Job) -> list[Evidence]:
    """The two lines of those that take themselves for the same, or the one that is unlike all others; of two, both."""
    rows: dict[str, dict[tuple[int, int], Item]] = defaultdict(dict)
    for fact in ("own-words", "deviant", "last-line"):
        for item in job.of_fact(fact):
            message = _message(item)
            place = item.finding.source, item.finding.offset
            if len(_NUMBER.findall(message)) > 1:
                rows[without_digits(message)].setdefault(place, item)
    for _, found in sorted(rows.items()):
        items = [item for _, item in sorted(found.items())]
        odd = _odd(items) if len(items) > 1 else []
        if odd:
            return [item.finding.evidence[0] for item in odd]
    return []


def _odd(items: list[Item]) -> list[Item]:
    columns = list(zip(*(_NUMBER.findall(_message(item)) for item in items), strict=True))
    counts = [Counter(column) for column in columns]
    if len(items) == 2:
        # each has a number of its own; another one that differs is a setting
        apart = sum(len(count) == 2 for count in counts)
        return items if apart > 1 else []
    for column, count in zip(columns, counts, strict=True):
        (value, times), *_ = count.most_common(1)
        if times == 2 and len(count) == len(items) - 1:
            return [item for item, said in zip(items, column, strict=True) if said == value]
    for column, count in zip(columns, counts, strict=True):
        if len(count) == 2 and min(count.values()) == 1:
            value = min(count, key=lambda v: count[v])
            return [item for item, said in zip(items, column, strict=True) if said == value]
    return []


def _message(item: Item) -> str:
    return split_line(item.finding.evidence[0].text)[1]
