"""How long something took, as programs say it when it is done: ``cache rebuilt in 312 s``, ``took 16.3s``.

A rank that others waited for, and that says afterwards what it had been at for longer than they waited, was late and
not stuck.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.lazy import compiled, deferred
from triage.scan.said import Said, finding_of, lines_around

TOOK = "progress.took"
SHORTEST = 2.0
"""Seconds that are worth a mention."""
MAX_LINES = 40
"""Lines of each source that are looked at on each side of where trouble began, fewer where there are many sources."""
MAX_LINES_IN_ALL = 2_000
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MAY_TELL = deferred(rb"\d ?(?:ms|s|sec\w*|m|min\w*|h|hours?)\b")
_TOOK = (
    r"(?i)\b(?:took|taken|took about|in|after|elapsed|duration|spent|lasted|needed|for)\b[:=]?\W{0,2}"
    r"(?P<figure>\d{1,6}(?:\.\d{1,6})?) ?(?P<unit>ms|s|sec(?:onds?|s)?|m|min(?:utes?|s)?|h|hours?)(?![\w/])"
    r"|[,(;] ?(?P<told>\d{1,6}(?:\.\d{1,6})?) ?(?P<in>s|sec(?:onds?|s)?|min(?:utes?|s)?)\)?\.?\Z"
)
_NO_WORK = (
    r"(?i)time[ -]?out|timed out|\bwait|retry|attempt|\beta\b|remaining|\bleft\b|\bevery\b|\bnext\b|will\b"
    r"|interval|limit|deadline|budget|sleep\w* for|/s\b"
)
"""What else so many seconds may be: limits, plans, and waits for others."""


def durations(
    tails: Mapping[int, Block], sources: Sequence[Source], until: Mapping[int, int]
) -> list[Finding]:
    """For each writer the longest time that it says something took, before and after trouble began, at ``until``."""
    most = max(4, min(MAX_LINES, MAX_LINES_IN_ALL // max(1, len(tails))))
    longest: dict[tuple[int, str, bool], tuple[float, Said]] = {}
    for line, seconds in _stated(tails, sources, until, most):
        later = line.offset > until.get(line.source, line.offset)
        key = (line.source, line.writer or line.prefix.stream, later)
        if key not in longest or seconds >= longest[key][0]:
            longest[key] = (seconds, line)
    return [
        finding_of(TOOK, line, sources, {"seconds": seconds, "words": " ".join(line.message.split())[:120]})
        for seconds, line in longest.values()
    ]


def _stated(
    tails: Mapping[int, Block], sources: Sequence[Source], until: Mapping[int, int], most: int
) -> Iterator[tuple[Said, float]]:
    for index, block in sorted(tails.items()):
        at = until.get(index, block.offset + len(block.data))
        for line in lines_around(block, sources[index], index, at, most, _MAY_TELL):
            found = compiled(_TOOK).search(line.message)
            if found is None or compiled(_NO_WORK).search(line.message):
                continue
            unit = (found["unit"] or found["in"]).lower()
            seconds = float(found["figure"] or found["told"]) * _UNITS["ms" if unit == "ms" else unit[0]]
            if seconds >= SHORTEST:
                yield line, seconds
