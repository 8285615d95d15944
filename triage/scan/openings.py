"""Where a log begins as it began before: what several runs were appended to says so by nothing else.

Scripts and programs begin with the same words each time. What a source says first is remembered without its
numbers, and where two of these lines stand together again, a run may begin there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from triage.model import Block
from triage.scan.lazy import compiled
from triage.scan.prefix import native, split_line

OPENS = "progress.opens"
REACH = 8 << 20
"""Bytes of a source that are looked at."""
FIRST_BYTES, FIRST_ROWS, MOST = 16 << 10, 60, 6
"""Where a source's first words are learned, and how many of its lines."""
NEAR = 6
"""Rows within which another of the first lines must stand."""
TIMES = 256
"""Beginnings of one source that are told."""
_LENGTHS = range(12, 400)
_TELLING = r"(?:\b[^\W\d_]{3,}\b[^\n]*?){2}"
_FAILS = (
    r"Traceback|[^\n]{0,60}\bTraceback \(most recent call last\)|(?:\w+\.)*\w+(?:Error|Exception|Interrupt)\b"
    r"|Task exception was never retrieved|Exception (?:in|ignored)\b"
)
_OTHERS = r"\s{2,}|[*=+~^-]{5,}|[^\n]{0,160}\d{1,3}%\||warnings\.warn|[^\n]{0,240}Warning: "
"""What no program begins with: code, rules, bars, what Python warns of."""
_DIGITS = b"0123456789"


@dataclass(slots=True, eq=False, repr=False)
class Opening:
    """One of the first lines of a source, where it stands beside another of them."""

    which: int
    offset: int
    line: int
    text: str


@dataclass(slots=True, eq=False, repr=False)
class Openings:
    """The first lines of one source, and where they stand again."""

    _known: dict[bytes, int] | None = None
    _seen: set[int] = field(default_factory=set)
    """Those of them that have stood somewhere."""
    _told: int = 0
    _once: dict[int, Opening] = field(default_factory=dict)
    """Those that have stood in one place only so far: of one run nothing needs to be told."""

    def visit(self, block: Block, line: int) -> Iterator[Opening]:
        """The first lines in a block's own region, of which ``line`` is the first, from the second time on that they stand there."""
        if block.offset + block.begin >= REACH or self._told >= TIMES:
            return
        if self._known is None:
            self._known = {} if block.offset + block.begin else _first_lines(block.data)
        if len(self._known) < 2:
            return
        for which, row, at, raw in _standing(self._known, self._seen, block.data[block.begin : block.end]):
            text = raw.decode("utf-8", "replace")
            found = Opening(which, block.offset + block.begin + at, line + row, text)
            if which not in self._once and self._told == 0 and len(self._once) < len(self._known):
                self._once[which] = found
                continue
            if which in self._once:
                yield self._once.pop(which)
            self._told += 1
            yield found
            if self._told >= TIMES:
                return


def _standing(known: dict[bytes, int], seen: set[int], data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Which of the ``known`` lines stand in which row and at which byte, with another of them near.

    Both must stand there for the first time, or both again: what is only said once more below the beginning begins
    nothing.
    """
    whole = data.translate(None, _DIGITS)
    last = max(map(whole.rfind, known))
    if last < 0:
        return
    # of the rows behind the last such line nothing is asked
    plain = whole[: last + max(map(len, known))].split(b"\n")
    found: list[tuple[int, int, bool]] = []
    for row, text in enumerate(plain):
        which = known.get(text.rstrip())
        if which is not None:
            found.append((row, which, which in seen))
            seen.add(which)
    if len(found) < 2:
        return
    rows = data.split(b"\n", len(plain))
    filled = [bool(text.strip()) for text in plain]
    at, row = 0, 0
    for place, (here, which, again) in enumerate(found):
        beside = (*found[max(0, place - NEAR) : place], *found[place + 1 : place + 1 + NEAR])
        if any(
            other != which and anew == again and _apart(filled, here, there) <= NEAR
            for there, other, anew in beside
        ):
            at += sum(len(text) + 1 for text in rows[row:here])
            row = here
            yield which, here, at, rows[here]


def _apart(filled: list[bool], one: int, other: int) -> int:
    """How many rows two rows are apart, blank ones not counted."""
    begin, end = min(one, other), max(one, other)
    return sum(filled[begin:end]) if end - begin < 4 * NEAR else end - begin


def _first_lines(data: bytes) -> dict[bytes, int]:
    """The lines with which a source begins that say something, in order, without their digits.

    What stands there twice is said by several processes, or is the work itself; and who labels lines has several.
    """
    rows = [row for row in data[:FIRST_BYTES].split(b"\n")[:-1] if row.strip()][:FIRST_ROWS]
    parts = [split_line(row.decode("utf-8", "replace")) for row in rows]
    fails = next((at for at, (_, said) in enumerate(parts) if compiled(_FAILS).match(said)), len(rows))
    plain = [row.translate(None, _DIGITS).rstrip() for row in rows[:fails]]
    times = Counter(plain)
    found: dict[bytes, int] = {}
    for text, (prefix, message) in zip(plain, parts, strict=False):
        if len(text) not in _LENGTHS or times[text] > 1 or prefix.stream or prefix.rank is not None:
            continue
        if native(prefix):
            continue  # what goes wrong below Python is written as it happens
        if compiled(_OTHERS).match(message) is None and compiled(_TELLING).search(message):
            found[text] = len(found)
        if len(found) >= MOST:
            break
    return found
