"""How long something took, as programs say it when it is done: ``cache rebuilt in 312 s``, ``took 16.3s``.

A rank that others waited for, and that says afterwards what it had been at for longer than they waited, was late and
not stuck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.model import Finding, Source
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import Said, Wanted, finding_of

TOOK = "progress.took"
SHORTEST = 2.0
"""Seconds that are worth a mention."""
MAX_LINES = 40
"""Lines of each source that are looked at on each side of where trouble began, fewer where there are many sources."""
MAX_LINES_IN_ALL = 2_000
FEWEST_LINES = 4
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MAY_TELL = deferred(
    rb"\d ?(?:ms|s|sec\w*|m|min\w*|h|hours?)\b|(?:seconds|secs|_s|_sec|_secs|_seconds)[\"']?[=:] ?\d"
)
_TOOK = (
    r"(?i)\b(?:took|taken|took about|in|after|elapsed|duration|spent|lasted|needed|for)\b[:=]?\W{0,2}"
    r"(?P<figure>\d{1,6}(?:\.\d{1,6})?) ?(?P<unit>ms|s|sec(?:onds?|s)?|m|min(?:utes?|s)?|h|hours?)(?![\w/])"
    r"|[,(;] ?(?P<told>\d{1,6}(?:\.\d{1,6})?) ?(?P<in>s|sec(?:onds?|s)?|min(?:utes?|s)?)\)?\.?\Z"
    r"|\b(?:seconds|secs|(?:elapsed|duration|took|time|wall)_s(?:ec(?:ond)?s?)?)[\"']?[=:] ?(?P<bare>\d{1,6}(?:\.\d{1,6})?)(?![\w.])"
)
_NO_WORK = (
    r"(?i)time[ -]?out|timed out|\bwait|retry|attempt|\beta\b|remaining|\bleft\b|\bevery\b|\bnext\b|will\b"
    r"|interval|limit|deadline|budget|sleep\w* for|/s\b"
)
"""What else so many seconds may be: limits, plans, and waits for others."""


TIMES = Wanted(_MAY_TELL, MAX_LINES_IN_ALL, FEWEST_LINES, MAX_LINES)
"""The lines that may tell how long something took."""


def durations(said: Sequence[Said], sources: Sequence[Source], until: Mapping[int, int]) -> list[Finding]:
    """For each writer of ``said`` the longest time that it says something took, before and after trouble began, at ``until``."""
    longest: dict[tuple[int, str, bool], tuple[float, Said]] = {}
    for line in said:
        seconds = _stated(line.message)
        if seconds is None or seconds < SHORTEST:
            continue
        later = line.offset > until.get(line.source, line.offset)
        key = (line.source, line.writer or line.prefix.stream, later)
        if key not in longest or seconds >= longest[key][0]:
            longest[key] = (seconds, line)
    return [
        finding_of(TOOK, line, sources, {"seconds": seconds, "words": " ".join(line.message.split())[:120]})
        for seconds, line in longest.values()
    ]


def _stated(message: str) -> float | None:
    """The seconds that something took by its own account."""
    found = compiled(_TOOK).search(message)
    if found is None or compiled(_NO_WORK).search(message):
        return None
    unit = (found["unit"] or found["in"] or "s").lower()
    return (
        float(found["figure"] or found["told"] or found["bare"]) * _UNITS["ms" if unit == "ms" else unit[0]]
    )
