"""The ends of all children in one list, as the parent prints them: ``[0, 0, -9, 1]``, ``1 137 1``, ``{'a': 0, 'b': 1}``.

Who lost a peer ends with an error as well, and who was told to end did not do so by itself: of those that ended badly
the one tells what happened that ended otherwise than all others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_NUMBERS = re.compile(r"[\[(]?\s*(-?\d{1,4}(?:[\s,]+-?\d{1,4})*),?\s*[\])]?")
_PAIR = re.compile(r"\s*(?:(\d{1,5})|[\"']?[\w .:/@#-]{1,60}?[\"']?)\s*[:=]\s*(-?\d{1,4})\s*")
_MOST = 255
_TOLD_TO_END = frozenset([-15, 143, -2, 130])
_ABORTED = frozenset([-6, 134])
_SIGNALS = range(129, 160)


def odd_child(text: object) -> int | None:
    """The number of the child that alone ended in the way that tells most, counted from 0 where they bear no numbers."""
    codes = _codes(text)
    bad = {child: code for child, code in codes.items() if code and code not in _TOLD_TO_END}
    if len(codes) > 1 and len(bad) == 1:
        return next(iter(bad))
    killed = [child for child, code in bad.items() if _by_signal(code) and code not in _ABORTED]
    if len(killed) == 1:
        return killed[0]
    times = Counter(bad.values())
    # those that wait for one another end alike, by an error or by their watchdogs
    single = [child for child, code in bad.items() if times[code] == 1]
    return single[0] if not killed and len(times) == 2 and len(single) == 1 else None


def odd_code(text: object) -> int | None:
    """How that child ended, else the worst of all ends; None where ``text`` is no list of such."""
    codes = _codes(text)
    child = odd_child(text)
    if child is not None:
        return codes[child]
    return max(codes.values(), key=lambda code: (_by_signal(code), bool(code)), default=None)


def _by_signal(code: int) -> bool:
    return code not in _TOLD_TO_END and (code < 0 or code in _SIGNALS)


def _codes(text: object) -> Mapping[int, int]:
    """The codes by the numbers of the children."""
    said = str(text or "").strip()
    listed = _NUMBERS.fullmatch(said)
    if listed is not None:
        codes = dict(enumerate(int(code) for code in re.split(r"[\s,]+", listed[1])))
    else:
        pairs = [_PAIR.fullmatch(part) for part in said.strip("{}").split(",")]
        if not all(pairs) or not said.startswith("{"):
            return {}
        told = [(pair[1], int(pair[2])) for pair in pairs if pair is not None]
        numbered = all(number is not None for number, _ in told)
        codes = {int(number) if numbered and number else at: code for at, (number, code) in enumerate(told)}
    return codes if len(codes) > 1 and all(-_MOST <= code <= _MOST for code in codes.values()) else {}
