"""What a line counts: its shape without its numbers, and whether these go on from where they were.

Stamps of time count nothing, and neither do the numbers of what is also told where nothing moves: memory, processes
that are alive, seconds that have gone by.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from triage.scan.lazy import compiled, deferred

Told = Sequence[tuple[int, list[float]]]
"""Rows of one shape, with their numbers."""
AFTER, BOTH = 2, 4
"""Lines of one shape that show that it goes on, and that there must be in all."""
NAMES, MORE_NAMES = 2, 4
"""Numbers at the head of a line by which processes may tell themselves apart; further ones, where many lines bear it out."""
MOST_NAMED = 1024
"""Above this a number is none by which processes are told apart."""
STATES = 3
"""Different counts that several writers of the same words must come through."""
FIGURES = 3
"""Numbers that make a line which has no words a row of a table."""
NUMBER = deferred(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
WORDS = deferred(r"[^\W\d_]{2,}")
CODE = deferred(r'\s*(?:File "|\^|~|Traceback|#\d+ |@ |frame #)|\s{4,}[^\s\d.+-]')
_CLOCK = r"[^\w\n]{0,3}\d+[:/.-]\d+[:/.-]\d"
_STAMP = (
    r"\b\d{4}([-/.])\d\d\1\d\d(?:[T _]?\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?(?!\d)"
    r"|(?<![\d.:])\d\d?:\d\d:\d\d(?:[.,]\d+)?(?![\d:])|(?<![\d.])\d\d\.\d\d\.(?:\d{4}|\d\d)?(?= )"
)
_IDLE_WORDS = (
    r"alive|idle|elapsed|uptime|util\w*|temp\w*|mem|memory|errors?|fail\w*|exceptions?|retr(?:y|ies)|warnings?|timeouts?|pending"
    r"|waiting"
)
IDLE_VALUES = (
    rf"(?i)\b(?:{_IDLE_WORDS})[\"']? ?[:=] ?[\"']?[-+]?\d[\d.,]*(?: ?(?:%|[KMGT]i?B\b|secs?\b|s\b|ms\b))?"
)
"""Values under the names of what is told of a run whether it moves on or not."""


_BARS = r"(?<=\|)[^|\w]{1,200}?[\u2588-\u258f#=>. -]*(?=\|)|[\u2500-\u259f]{3,}[ \u2500-\u259f]*|(?<=\[)[=>.#-]{5,}(?=\])"
"""What is drawn of a bar."""
_GLUED = r"\b([A-Za-z]{1,10})_?(\d{1,9})\b(?![-.]\w)"
"""A count to which its name is glued: ep3, scene_040."""
_ADDRESS = r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"
_PARTS = deferred(r"(?i)\b(?:epochs?|progress|fraction|percent\w*)[\"']?\s{0,3}[:=]?\s{0,3}$")
"""What a number with a fraction may be called that counts."""
_FINE = 10**6


def without_stamps(message: str) -> str:
    """A line without what it says of the time, values that move by themselves, and what is drawn of a bar."""
    for pattern in (IDLE_VALUES, _STAMP, _ADDRESS, _BARS):
        message = compiled(pattern).sub("", message)
    return compiled(_GLUED).sub(r"\1 \2", message)


def counts_of(message: str) -> tuple[str, list[float]] | None:
    """The shape of a line and its numbers; None for one that has none, or neither words nor enough figures."""
    said = without_stamps(message)
    first = WORDS.search(said)
    if first is not None and compiled(_CLOCK).match(said):
        said = said[first.start() :]  # what stands before the first word may be a clock
    numbers = numbers_of(said)
    if len(numbers) < (1 if first is not None else FIGURES):
        return None
    return shape_of(said), numbers


def numbers_of(said: str) -> list[float]:
    """All numbers in a text; of epochs and the like, millionths."""
    return [
        float(round(value * _FINE))
        if _PARTS.search(said, max(0, found.start() - 16), found.start())
        else value
        for found in NUMBER.finditer(said)
        for value in (float(found[0].replace(",", "")),)
    ]


def shape_of(words: str) -> str:
    """What a line says, whatever its numbers."""
    return " ".join(NUMBER.sub("0", words).split())


def goes_on(before: Told, after: Told) -> bool:
    """Whether a count goes on: of all rows, of several writers who say the same, or of one who has a number for a name."""
    past, new = [n for _, n in before], [n for _, n in after]
    return counts_on(past, new) or _together(past, new) or _one_counts_on(before, after)


def counts_on(before: Sequence[list[float]], after: Sequence[list[float]]) -> bool:
    """Whether one of the numbers has risen all the time, and goes on to rise."""
    return any(
        all(a < b for a, b in pairwise(values)) and all(v == int(v) for v in values)
        for values in _columns(before[-2:], after)
    )


def _together(before: Sequence[list[float]], after: Sequence[list[float]]) -> bool:
    """Whether several say the same count one after the other: it never falls, and has come further each time all have said it."""
    for values in _columns(before[-2:], after):
        if (
            all(a <= b for a, b in pairwise(values))
            and all(v == int(v) for v in values)
            and len(set(values)) >= max(STATES, len(values) // 4)
            and len(values) > BOTH
            and len(set(values[-len(after) :])) >= AFTER
        ):
            return True
    return False


def _columns(before: Sequence[list[float]], after: Sequence[list[float]]) -> list[list[float]]:
    width = min(len(numbers) for numbers in (*before, *after))
    return [[numbers[column] for numbers in (*before, *after)] for column in range(width)]


def _one_counts_on(before: Told, after: Told) -> bool:
    """Whether one of several goes on to count, who tell themselves apart by a number ahead of the count."""
    width = min((len(numbers) for _, numbers in (*before, *after)), default=0)
    for column in range(min(width - 1, MORE_NAMES)):
        names = {numbers[column] for _, numbers in before or after}
        if column >= NAMES and (len(names) > MOST_NAMED or not all(0 <= n < MOST_NAMED for n in names)):
            continue
        enough = AFTER if column < NAMES else AFTER + 1
        for name in names:
            past = [numbers for _, numbers in before if numbers[column] == name]
            new = [numbers for _, numbers in after if numbers[column] == name]
            if len(new) >= enough and len(past) + len(new) >= BOTH and counts_on(past, new):
                return True
    return False
