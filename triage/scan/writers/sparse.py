"""A rank's number at one place of nearly all records although most ranks never write: rank 0 reports, another one complains once.

``marks`` tells such a number by all processes taking turns. Where they don't, a word for a rank before it tells, or torch's tags
in the same log: they say which ranks there are, and a number in brackets of its own behind the time stays within them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from triage.scan.lazy import deferred
from triage.scan.writers.marks import AGAIN, HEAD, MOST, TAGGED, contradicted, pattern_of, shape_of

FEWEST = 3
"""Records by which a place is told."""
_NUMBER = deferred(r"\d{1,4}(?![\w.,:%])|\d{1,4}(?=: |, |:\w)")
_NAMED = deferred(r"(?i)(?<![a-z])(?:(?:global|world)[_ -]?)?(?:rank|rk)[ =:#_.-]{0,2}\Z")
_CALLED = deferred(
    r"(?i)(?<![a-z])(?:r|worker|wrk|w|proc(?:ess)?|trainer|replica|pe|member|actor)[ =:#_.-]{0,2}\Z"
)
_AMONG_FEWER = deferred(
    r"(?i)(?:local|node|group|machine|host|sub|shard|stage|pipe(?:line)?|tensor|expert|data|model|context|[tdpec]p)[_ -]{0,2}(?:rank|rk)"
    r"[ =:#_.-]{0,2}\Z"
)
"""Ranks of something smaller than the job."""
_NEAR = 32
"""Characters before a number in which such words end: none of them is half as long."""
_FAR = 200
_NOBODYS = deferred(r"^\S+\.py:\d+: \w*Warning: |\.(?:cpp|cc|hpp|h):\d+\]")
"""What the module ``warnings`` writes past all loggers, and torch itself, which may count there within a group."""
_BARE = deferred(r"[\x00\x01\s\[\](){}<>|:.,/TZ+-]*[\[(<]\Z")
"""Only times, levels and brackets stand before it."""
_CLOSING = frozenset("])>/")


def sparse_mark_of(lines: Sequence[str], records: Sequence[str]) -> tuple[re.Pattern[str], int] | None:
    """What matches a record from its beginning up to a rank's number, its last group, and what is counted from; None without."""
    heads = [line[:HEAD] for line in records if _NOBODYS.search(line[:_FAR]) is None]
    most = max((int(tag[1]) for line in lines if (tag := TAGGED.match(line)) is not None), default=-1)
    places: dict[str, list[int]] = defaultdict(list)
    for head in heads:
        named = _may_name_a_rank(head)
        if not named and most < 0:
            continue
        own = next((n for n in _NUMBER.finditer(head) if _is_rank(n, most, named=named)), None)
        if own is not None:
            places[shape_of(head[: own.start()])].append(int(own[0]))
    if not places:
        return None
    shape, values = max(places.items(), key=lambda place: len(place[1]))
    back = any(b < a for a, b in pairwise(values))
    again = len(values) >= AGAIN * len(set(values))
    if len(values) < max(FEWEST, MOST * len(heads)) or len(set(values)) < 2 or not back or not again:
        return None
    mark = re.compile(pattern_of(shape))
    return None if contradicted(mark, 0, lines) else (mark, 0)


def _may_name_a_rank(head: str) -> bool:
    """Whether a word for a rank is in the beginning of a record: to ask that of each number in it takes long."""
    folded = head.lower()
    return "rank" in folded or "rk" in folded


def _is_rank(number: re.Match[str], most: int, *, named: bool) -> bool:
    """Whether a number in a record may be the rank of its writer.

    Args:
        most: the greatest rank that is known.
        named: whether a word for a rank may stand before it.
    """
    start = number.start()
    near = number.string[max(0, start - _NEAR) : start]
    if named and _NAMED.search(near) is not None:
        return _AMONG_FEWER.search(near) is None
    if int(number[0]) > most:
        return False
    if _CALLED.search(near) is not None:
        return True
    closed = number.string[number.end() : number.end() + 1] in _CLOSING
    return closed and _BARE.match(shape_of(number.string[:start])) is not None
