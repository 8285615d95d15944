"""Whether a writer goes on, after a line, with what it did before: in words that nobody has to know.

Programs that work say the same again and again with other numbers. Where a line of one shape stands several times
before an error and several times after it, and a count in it has gone on, its writer has got over the error.
"""

from __future__ import annotations

from collections import defaultdict

from triage.model import Block, Evidence, Source
from triage.scan.lazy import compiled, deferred
from triage.scan.prefix import split_line
from triage.scan.tail import last_rows
from triage.text import safe

MAX_BYTES = 2 << 20
"""Bytes at the end of a log that are looked at."""
MAX_ROWS = 600
"""Lines that are looked at on each side, and at the very end."""
BEFORE, AFTER, BOTH = 1, 2, 4
"""Lines of one shape that make a routine, that show that it goes on, and that there must be in all."""
LONGEST = 400
"""Characters of a line that are compared."""
_NUMBER = deferred(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_WORDS = deferred(r"[^\W\d_]{3,}")
_NONE_OF = deferred(r"\b[a-z_]+ ?[=:] ?0\b(?!\.)")
_CODE = deferred(r'\s*(?:File "|\^|~|Traceback|#\d+ |@ |frame #)|\s{4,}\S')
_IDLE = (
    r"(?i)\b(?:heart-?beat\w*|alive|wait\w*|idle|poll\w*|ping|monitor\w*|watch\w*|retr(?:y|ies|ying)|attempt\w*|tries|try|elapsed|uptime"
    r"|errors?(?!(?<=s)\W{0,3}\d)|fail\w*|exceptions?|warn\w*|timed?[ _]?out\w*|stuck|hung|kill\w*|abort\w*|util\w*|temp\w*|memory|no progress)\b"
)
"""What is also counted where nothing moves on, and what says itself that something is wrong."""


class Routine:
    """The lines at the end of one log, by writer and shape."""

    def __init__(self, block: Block, source: Source) -> None:
        self._rows = last_rows(block, MAX_BYTES)
        self._name = source.name
        self._split: dict[int, tuple[str, str, str]] = {}

    def resumed(self, stream: str, line: int, before: bool = False) -> Evidence | None:
        """The last of the lines with which ``stream`` goes on after ``line`` as before, None without.

        ``before``: it has got over the same before, so that anything ordinary that it says will do.
        """
        if before and stream and (said := self._ordinary(stream, line)) is not None:
            return said
        at = next((i for i, row in enumerate(self._rows) if row[0] > line), len(self._rows))
        before = self._shapes(range(max(0, at - MAX_ROWS), at), stream)
        known = {shape for shape, told in before.items() if len(told) >= BEFORE}
        if not known:
            return None
        left = len(self._rows)
        rows = dict.fromkeys([*range(at, min(left, at + MAX_ROWS)), *range(max(at, left - MAX_ROWS), left)])
        after = self._shapes(rows, stream)
        for shape in known & after.keys():
            told = after[shape]
            if len(told) < AFTER or len(before[shape]) + len(told) < BOTH:
                continue
            if _counts_on([n for _, n in before[shape]], [n for _, n in told]):
                number, raw = self._rows[told[-1][0]]
                return Evidence(self._name, number, safe(raw.decode("utf-8", "replace")[:LONGEST]))
        return None

    def _ordinary(self, stream: str, line: int) -> Evidence | None:
        """The last thing that ``stream`` says after ``line``, if it is neither code nor alarming."""
        for number, raw in reversed(self._rows[-MAX_ROWS:]):
            if number <= line:
                break
            prefix, message = split_line(raw[: 2 * LONGEST].decode("utf-8", "replace"))
            if prefix.stream != stream or _WORDS.search(message) is None:
                continue
            if _CODE.match(message) or compiled(_IDLE).search(_NONE_OF.sub("", message)):
                return None
            return Evidence(self._name, number, safe(raw.decode("utf-8", "replace")[:LONGEST]))
        return None

    def _shapes(self, rows: range | dict[int, None], stream: str) -> dict[str, list[tuple[int, list[float]]]]:
        """The lines of a writer in ``rows`` with their numbers, by what they say."""
        found: dict[str, list[tuple[int, list[float]]]] = defaultdict(list)
        for i in rows:
            known = self._split.get(i)
            if known is None:
                prefix, message = split_line(self._rows[i][1][: 2 * LONGEST].decode("utf-8", "replace"))
                message = message[:LONGEST]
                first = _WORDS.search(message)
                plain = first is None or _CODE.match(message) or compiled(_IDLE).search(message)
                # what stands before the first word may be a clock
                said = "" if first is None or plain else message[first.start() :]
                known = self._split[i] = (prefix.stream, _NUMBER.sub("0", said), said)
            if known[0] == stream and known[1] != known[2]:
                numbers = [float(n.replace(",", "")) for n in _NUMBER.findall(known[2])]
                found[known[1]].append((i, numbers))
        return found


def _counts_on(before: list[list[float]], after: list[list[float]]) -> bool:
    """Whether one of the numbers has risen all the time, and goes on to rise."""
    width = min(len(numbers) for numbers in (*before, *after))
    for column in range(width):
        values = [numbers[column] for numbers in (*before[-2:], *after)]
        rising = all(a < b for a, b in zip(values, values[1:], strict=False))
        if rising and all(v == int(v) for v in values):
            return True
    return False
