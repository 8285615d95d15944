"""Logs as a terminal showed them, with the lines that it broke at its last column whole again.

``tmux capture-pane``, a console's scroll-back and what is copied from them hold rows, not lines: a line that is longer
than the terminal goes on in the next row, in the middle of a word, and blanks at the end of a row are lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

LARGEST = 8 << 20
"""Bytes of a terminal's rows that are looked through."""
_NARROWEST, _WIDEST = 72, 400
"""Columns of a terminal."""
_FEWEST = 3
"""Rows of different words that are full and go on below, by which it is no chance."""
_HEAD = 5
"""Characters by which it is known that a row begins as lines do."""
_OFTEN = 3
"""Lines that begin so."""
_BELOW = 7
"""Columns below the last but one in which a text that was broken between words would end as often as in the last."""
_VALUES = re.compile(r"\d")
_SAYING = re.compile(r"[A-Za-z0-9]")
_OWN = re.compile(
    r"\s{2}|\t|\[[\w ]{1,12}\]|\[?[IWEF]\d{4} \d\d:|\[?\d{4}[-/]\d\d|\[?\d\d:\d\d:\d\d|Traceback |[A-Z]\w*(?:Error|Exception)\b: "
)
"""How a line begins that is none's continuation: indented, with a tag or a time, or an exception."""
_RULED = 6
"""Different characters that a line has which is more than a ruler or a bar."""
_BOXED = "|+│┃┐┘┤"
"""How a row of a table ends."""


NOTE = "a terminal had broken its lines: they were put together, and are counted so"


def joined(data: bytes) -> bytes | None:
    """``data`` with its lines whole; None where no terminal shows to have broken any."""
    if len(data) > LARGEST or b"\0" in data[:1024] or data.count(b"\n") < _FEWEST * 2:
        return None
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    ended = all(row.endswith("\r") for row in rows[:-1])
    if ended:
        rows = [row.removesuffix("\r") for row in rows]
    width = max(map(len, rows))
    if not _NARROWEST <= width <= _WIDEST:
        return None
    full = [len(row) == width and len(set(row)) >= _RULED and row[-1] not in _BOXED for row in rows]
    if sum(full) < _FEWEST or sum(full) < 2 * max(
        sum(len(row) == width - below for row in rows) for below in range(2, _BELOW)
    ):
        return None
    known = _beginnings(rows, full)
    onward = [_goes_on(row, above, known) for above, row in pairwise(rows)]
    broken = [row for row, is_full, on in zip(rows, full, onward, strict=False) if is_full and on]
    if len({_VALUES.sub("0", row) for row in broken}) < _FEWEST or len(broken) * 3 < sum(full[:-1]) * 2:
        return None
    lines = [rows[0]]
    for row, above, is_full, on in zip(rows[1:], rows, full, onward, strict=False):
        if on and is_full:
            lines[-1] += row
        elif on and len(above) == width - 1 and _SAYING.search(row[:1]):
            lines[-1] += f" {row}"  # the row's last column was blank
        else:
            lines.append(row)
    return ("\r\n" if ended else "\n").join(lines).encode("utf-8", "surrogateescape")


def _beginnings(rows: Sequence[str], full: Sequence[bool]) -> frozenset[str]:
    """How lines begin that stand below no full row, whatever their digits."""
    heads = Counter(
        _VALUES.sub("0", row[:_HEAD])
        for row, below_full in zip(rows, [False, *full], strict=False)
        if row and not below_full
    )
    return frozenset(head for head, times in heads.items() if times >= _OFTEN)


def _goes_on(row: str, above: str, known: frozenset[str]) -> bool:
    """Whether ``row`` may be the rest of the one above: there is something, and lines don't begin so, nor does that one."""
    head = _VALUES.sub("0", row[:_HEAD])
    return (
        bool(row)
        and _OWN.match(row) is None
        and head not in known
        and head != _VALUES.sub("0", above[:_HEAD])
    )
