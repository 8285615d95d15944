"""Whether a job had stood still when it was ended: no line for many times as long as ever between two before.

What stamps its lines shows it. A limit that finds a program at work ends it within the time of a line or two; so does
whoever sends a signal for reasons of his own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from triage.model import Block, Finding, Moment, Source, Value
from triage.scan.clock import parse_time, with_year, year_of
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import WINDOW, Said, any_line, finding_of

FEWEST = 6
"""Lines with different times, by which is known how often a program says something."""
FEWEST_FAST, ENOUGH = 2, 24
"""The same of a program that says so many lines within seconds, where times are told in seconds."""
MOST_UNSTAMPED = 12
"""Lines without a time behind the last one that has one: with more of them, somebody may have been at work."""
_AWAITS = deferred(
    r"Application startup complete|Uvicorn running on http|\b(?:ready to (?:roll|serve|accept)|fired up and ready)\b"
    r"|\bHTTP/[\d.]+\"? 200\b|\bRunning: 0 reqs,.{0,60}\b(?:Waiting|Pending): 0 reqs"
)
"""A server is up, or has answered all: it says nothing as long as nobody asks."""
_ZONE = 1800.0
"""Zones differ by multiples of so many seconds: so may the clocks of the program and of the scheduler."""


_DAY = 86400.0


class _Stop(NamedTuple):
    """A way of being ended, and what silence before it means something."""

    rule: str
    said: re.Pattern[bytes]
    shortest: float
    """Seconds without a line that are worth a mention."""
    times_as_long: float
    """How much longer than ever before nothing was said."""
    apart: float
    """Seconds by which silence must exceed a difference of zones."""


_STOPS = (
    _Stop(
        "slurm.stood-still",
        deferred(rb"CANCELLED AT (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) DUE TO TIME LIMIT"),
        1200.0, 6.0, 30.0,
    ),
    _Stop(
        "slurm.stood-still-until-cancelled",
        deferred(rb"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d) \*\*\*"),
        1200.0, 6.0, 30.0,
    ),
    _Stop("torch.stood-still", deferred(rb"Received (?:Signals\.)?\w+ death signal, shutting down workers"), 30.0, 3.0, 15.0),
)  # fmt: skip


class _Told(NamedTuple):
    """What one log tells: its last line with a time, and the longest time between two such lines."""

    last: Said
    at: float
    longest: float


def stood_still(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of a job that had said nothing for long when its time limit or a signal from outside ended it."""
    for stop in _STOPS:
        found = _before(stop, tails, sources)
        if found is not None:
            return found
    return None


def _before(way: _Stop, tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    limits = [
        (index, found) for index, block in sorted(tails.items()) if (found := way.said.search(block.data))
    ]
    if not limits:
        return None
    index, limit = limits[0]
    here = _line(tails[index], sources[index], index, limit.start())
    if limit.re.groups:
        stop = parse_time(limit[1].decode())
    else:
        stop = None if here is None else here.prefix.time
    if stop is None or stop.clock not in {"wall", "yearless"}:
        return None
    told = []
    for number, block in sorted(tails.items()):
        until = limit.start() if number == index else len(block.data)
        one = _told(block, sources[number], number, until, stop)
        if one is None and number == index:
            return None
        if one is not None:
            told.append(one)
    latest = max(told, key=lambda one: one.at)
    idle, longest = stop.seconds - latest.at, min(one.longest for one in told)
    if idle < max(way.shortest, way.times_as_long * longest) or idle % _ZONE < longest + way.apart:
        return None
    fields: dict[str, Value] = {
        "idle": idle, "usual": longest, "words": " ".join(latest.last.message.split())[:160]
    }  # fmt: skip
    shown = here if latest.last.source == index else None
    return finding_of(way.rule, latest.last, sources, fields, last=shown)


def _line(block: Block, source: Source, index: int, at: int) -> Said | None:
    """The line of a log that has the byte ``at`` in it."""
    return next(any_line(block, source, index, _begin(block, at)), None)


def _begin(block: Block, at: int) -> int:
    return block.data.rfind(b"\n", 0, at) + 1


def _told(block: Block, source: Source, index: int, until: int, stop: Moment) -> _Told | None:
    start = max(0, until - WINDOW)
    start = block.data.find(b"\n", start, until) + 1 if start else 0
    last: Said | None = None
    times: list[float] = []
    stamped = unstamped = 0
    awaits = False
    for line in any_line(block, source, index, start):
        if line.offset - block.offset >= _begin(block, until):
            break
        at = _seconds(line.prefix.time, stop)
        awaits = (awaits and at is None) or _AWAITS.search(line.text) is not None
        if at is None:
            unstamped += bool(line.text.strip())
            continue
        if at > stop.seconds:
            return None  # another clock, or another attempt's line
        stamped, unstamped = stamped + 1, 0
        last = line
        if not times or at > times[-1]:
            times.append(at)
    fewest = FEWEST_FAST if stamped >= ENOUGH else FEWEST
    if last is None or len(times) < fewest or unstamped > MOST_UNSTAMPED or awaits:
        return None
    return _Told(last, times[-1], max(two - one for one, two in pairwise(times)))


def _seconds(time: Moment | None, stop: Moment) -> float | None:
    if time is not None and time.clock == "daytime":
        return stop.seconds - (stop.seconds - time.seconds) % _DAY
    if time is None or time.clock not in {"wall", "yearless"}:
        return None
    if time.clock == stop.clock:
        return time.seconds
    if time.clock == "yearless":
        year = year_of(stop)
        return time.seconds if year is None else with_year(time, year).seconds
    year = year_of(time)
    return None if year is None else time.seconds - with_year(stop, year).seconds + stop.seconds
