"""Logs that show the newest line first, as log stores and their viewers export them, read as they were written.

``logcli``, Cloud Logging and Kibana give the newest first. Below a cause then stands what came before it, and the lines
of a traceback run from its end to its beginning, unless the store kept the traceback as one record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

LARGEST = 8 << 20
"""Bytes that are turned round."""
_FEWEST = 8
"""Times of which each is before the one above, by which it is no chance."""
_ASTRAY = 20
"""Of how many steps back in time one may lead forward: the clocks of several writers differ."""
_WITHIN = 400
"""Bytes of a line in which its time stands."""
_DATED = re.compile(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_COUNTED = re.compile(
    rb"\"(?:ts|time|timestamp|@timestamp)\": ?\"?(\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})\b"
)
_HEADER = b"Traceback (most recent call last):"
_FRAME = b'File "'
NOTE = "its newest lines stand first: it was read from its end, and its lines are counted from there"

_Time = tuple[bytes, ...]


def oldest_first(data: bytes) -> bytes | None:
    """``data`` with its lines in the order of time; None where they stand in it, or no times tell."""
    if len(data) > LARGEST:
        return None
    lines = data.split(b"\n")
    first = next((time for line in lines[:_FEWEST] if (time := _time_of(line)) is not None), None)
    last = next((time for line in lines[: -_FEWEST - 1 : -1] if (time := _time_of(line)) is not None), None)
    if first is None or last is None or not _before(last, first):
        return None
    times = list(map(_time_of, lines))
    stamped = [time for time in times if time is not None]
    back = sum(_before(below, above) for above, below in pairwise(stamped))
    forward = sum(_before(above, below) for above, below in pairwise(stamped))
    if back < _FEWEST or forward * _ASTRAY > back:
        return None
    if lines[-1] == b"":
        del lines[-1], times[-1]
    head = 1 if times[0] is None else 0  # the names of columns
    records = (
        _records(lines[head:], times[head:]) if _whole_records(lines) else [[line] for line in lines[head:]]
    )
    ordered = [line for record in reversed(records) for line in record]
    return b"\n".join([*lines[:head], *ordered, b""])


def _time_of(line: bytes) -> _Time | None:
    """When a line was written, in a form of which equal kinds can be compared."""
    found = _DATED.search(line, 0, _WITHIN)
    if found is not None:
        return found[1], found[2], (found[3] or b"").ljust(9, b"0")
    counted = _COUNTED.search(line, 0, _WITHIN)
    return None if counted is None else (counted[1],)


def _before(one: _Time, other: _Time) -> bool:
    return len(one) == len(other) and one < other


def _whole_records(lines: Sequence[bytes]) -> bool:
    """Whether tracebacks run forward, as they do where a record was kept with all its lines."""
    ahead = sum(_HEADER in line and _FRAME in below for line, below in pairwise(lines))
    behind = sum(_HEADER in below and _FRAME in line for line, below in pairwise(lines))
    return ahead > behind


def _records(lines: Sequence[bytes], times: Sequence[_Time | None]) -> list[list[bytes]]:
    """Each line that bears a time, with those below it that bear none."""
    records: list[list[bytes]] = []
    for line, time in zip(lines, times, strict=True):
        if time is not None or not records:
            records.append([])
        records[-1].append(line)
    return records
