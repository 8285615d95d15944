"""The level of a record in a layout that nobody has to know: ``…|2|ERROR|``, ``… r2  WARNING ``, ``[E 2026-11-22 18:35:24 r2] ``.

Everybody writes a format of his own for Python's logging. What most have in common is that the level is written out in
capitals, and that nothing stands before it but a time, the number or name of who writes, and marks between them.
"""

from __future__ import annotations

from triage.scan.lazy import Lazy
from triage.scan.prefixes.draft import LEVEL_WORD, LEVELS, LEVELS_NEED

_MARKS = r"[\s\[\](){}<>|,;:=/*#-]"
_STAMP = r"(?:\d[\d:.,/T+-]{3,40}Z?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6},?)"
_WRITER = (
    r"(?:(?i:global_?rank|rank|rk|r|worker|w|proc(?:ess)?|pid|stage|node|host|replica|trainer|actor|shard|task|gpu|p|pe|[dtp]p)"
    r"[ =:_#-]{0,2}\d{1,7}(?:/\d{1,5})?|\d{1,8}(?:/\d{1,5})?(?=\s?[\]|>):,;/}]))"
)
_NAMED = r"(?:[A-Za-z_][\w.@-]{0,40}(?:\[\d{1,8}\])?)"
"""A host, a logger, a thread: only between a time and a level."""
_END = r"(?=[\]|>):,;/}=*]|\s+\S| -)"
_FIELDS = rf"(?:{_MARKS}{{0,6}}(?:{_STAMP}|{_WRITER})(?![\w.%])){{0,5}}{_MARKS}{{0,6}}(?<!\w)"
_HEAD = Lazy(rf"(?P<before>{_FIELDS})(?P<level>{LEVEL_WORD}){_END}", LEVELS_NEED)
_BEHIND = Lazy(
    rf"{_FIELDS}{_NAMED}(?:{_MARKS}{{1,6}}(?:{_WRITER}(?![\w.%]){_MARKS}{{1,6}})?)(?P<level>{LEVEL_WORD}){_END}",
    LEVELS_NEED,
)
_ENCLOSED = Lazy(
    rf"(?P<before>(?:{_MARKS}{{0,6}}(?:{_STAMP}|{_WRITER})(?![\w.%])){{0,5}})[\s\]):|]{{0,3}}"
    rf"(?:\((?P<round>[a-z]{{4,8}})\)|\[(?P<square>[a-z]{{4,8}})\]|<(?P<angle>[a-z]{{4,8}})>)(?=[\s:]|$)"
)
"""In small letters a level is known by the brackets around it alone."""
_LEADING = Lazy(
    rf"(?P<level>{LEVEL_WORD})[\s/|:,;-]{{1,3}}(?=[\d.,/-]{{0,12}}[ T]?\d\d?[:-]\d\d)", LEVELS_NEED
)
_LETTER = Lazy(rf"\[?(?P<level>[DIWEFC])[ /](?=\d{{2,8}}[-/:.]?\d\d|[\d-]+ \d\d:\d\d){_STAMP}[\s\]/|,]")


def level_in(text: str, at: int, *, stamped: bool) -> str | None:
    """The level in the head of what is left of a line from ``at`` on; ``stamped`` where a time was taken off it.

    A level that begins the line is the business of those who know the layout: much begins so that no logger wrote.
    """
    found = _HEAD.match(text, at)
    if found is not None and (at or found["before"].strip()):
        return found["level"]
    if found is None and stamped:
        found = _BEHIND.match(text, at)
        if found is not None:
            return found["level"]
    enclosed = _ENCLOSED.match(text, at)
    if enclosed is not None and (at or stamped or enclosed["before"].strip()):
        word = enclosed["round"] or enclosed["square"] or enclosed["angle"]
        return word.upper() if word.upper() in LEVELS else None
    if at:
        return None
    first = _LEADING.match(text, at) or _LETTER.match(text, at)
    return None if first is None else first["level"]
