"""Lines that several processes wrote at once, each on a line of its own again: ``[r0] step 7[r3] step 7`` above an empty line.

Python without a buffer writes the text of a ``print`` and its line feed one after the other. Where processes share one
stream, the words of the next come in between, and the line feeds stand together below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

LARGEST = 8 << 20
"""Bytes of a log that is looked through."""
_HEAD = 12
"""Bytes by which lines that begin alike are known."""
_FEWEST = 3
"""Lines that begin so."""
_NEAR = 8
"""Lines below, among which is the line feed that belongs to somebody's words."""
_ALIKE = bytes.maketrans(b"123456789", b"000000000")
_NUMBERED = re.compile(rb"\S[^\n\d]{0,40}\d|\d")
"""How a line begins that names its writer, or the time."""
_WORDS = re.compile(rb"[A-Za-z]{2}|00:00:00|0000-00-00")
"""What is in it, digits aside: a word, or a time."""
_OF_LIBRARIES = (
    rb"Traceback \(most recent call last\):|\[rank0+\]:|\[[IWEF]0{3,4} 00:00|\[[IWEF] [A-Za-z]\w{2,40}\.cpp:0"
)
"""How Python and torch begin a line, be it a single one of a log."""
_MOST_KINDS = 200
"""Ways to begin a line; a program has not so many."""


def taken_apart(data: bytes) -> bytes | None:
    """``data`` with each process' words on a line of their own; None where nothing shows that any share one.

    What begins as other lines do stands right behind somebody's words, and the line feed that it lacks is below.
    """
    if len(data) > LARGEST or b"\n\n" not in data or b"\0" in data[:1024]:
        return None
    rows = data.split(b"\n")
    begins = _beginnings(rows)
    found = False
    spent: set[int] = set()
    lines: list[bytes] = []
    for at, row in enumerate(rows):
        if at in spent:
            continue
        parts = [row]
        empty = (
            [below for below in _empty_below(rows, at) if below not in spent]
            if row and not row[:1].isspace()
            else []
        )
        if empty:
            parts = _parts(row, begins)
        if len(parts) > 1:
            spent.update(empty[: len(parts) - 1])
            found = True
        lines += parts
    return b"\n".join(lines) if found else None


def _beginnings(rows: Sequence[bytes]) -> re.Pattern[bytes]:
    """What matches where a line begins as several do, whatever its digits, right behind other words."""
    heads = Counter(row[:_HEAD].translate(_ALIKE) for row in rows if _NUMBERED.match(row) is not None)
    known = [
        head for head, times in heads.most_common(_MOST_KINDS)
        if times >= _FEWEST and len(head) == _HEAD and _WORDS.search(head) is not None
    ]  # fmt: skip
    # behind a colon or an angle bracket it is a launcher's or torch's tag that stands before its own line
    return re.compile(rb"(?<=[^\s/\\=\[:>])(?:" + b"|".join([_OF_LIBRARIES, *map(re.escape, known)]) + b")")


def _empty_below(rows: Sequence[bytes], at: int) -> list[int]:
    """The empty ones among the next few rows; none where the very end of the log is all that is empty."""
    return [below for below in range(at + 1, min(len(rows) - 1, at + _NEAR)) if not rows[below].strip(b"\r")]


def _parts(row: bytes, begins: re.Pattern[bytes]) -> list[bytes]:
    """``row``, cut where somebody else's words begin."""
    cuts = [0, *(found.start() for found in begins.finditer(row.translate(_ALIKE))), len(row)]
    return [row[begin:end] for begin, end in pairwise(cuts)]
