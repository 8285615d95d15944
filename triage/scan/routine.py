"""Whether a writer goes on, after a line, with what it did before: in words that nobody has to know.

Programs that work say the same again and again with other numbers. Where a line of one shape stands several times
before an error and several times after it, and a count in it has gone on, its writer has got over the error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from triage.model import Block, Evidence, Source
from triage.scan.lazy import compiled, deferred
from triage.scan.leads import leads_of, split
from triage.scan.said import without_digits
from triage.scan.tail import NONE_OF, last_rows, says_goodbye
from triage.scan.tracebacks.lines import HEADER, LINKS
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
_CODE = deferred(r'\s*(?:File "|\^|~|Traceback|#\d+ |@ |frame #)|\s{4,}\S')
_IDLE = (
    r"(?i)\b(?:heart-?beat\w*|alive|wait\w*|idle|poll\w*|ping|monitor\w*|watch\w*|retr(?:y|ies|ying)|attempt\w*|tries|try|elapsed|uptime"
    r"|errors?(?!(?<=s)\W{0,3}\d)|fail\w*|exceptions?|warn\w*|timed?[ _]?out\w*|stuck|hung|kill\w*|abort\w*|util\w*|temp\w*|memory"
    r"|no progress)\b"
)
"""What is also counted where nothing moves on, and what says itself that something is wrong."""


AGAIN = 3
"""Times that a complaint is repeated by which something is known to catch it."""
_HEAD = r"\s*(?:\[[^\]\d]{2,30}\]|(?!File|Traceback|[\w.]*(?:Error|Exception))[A-Za-z][\w.-]{2,30}:(?= ))"
_INSTEAD = (
    r"(?i)\b(?:fall(?:s|ing|en)?[ -]?back|fell back|instead|skip(?:s|ped|ping)?|ignor(?:e|es|ed|ing)|continuing|proceeding"
    r"|without it|will be retried|(?:trying|using) (?:the )?(?:next|other|default|another))\b"
)
"""What is done where something failed."""
_RAISED = r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b"
_TIMES = r"(?:real|user|sys)\s+\d"
"""What the shell says of the time that a program took."""
MAX_FRAMES = 80
ENOUGH = 3
"""Ordinary lines that a program says which goes on."""
_ANEW = r"(?i)\b(?:re)?(?:start|launch|spawn|submit|queu)\w*|\b(?:attempt|retr(?:y|ies|ying)|tries|giv(?:e|es|ing|en) up|gave up)\b"
"""What is said of a program that is run again and again."""


class Routine:
    """The lines at the end of one log, by writer and shape."""

    def __init__(self, block: Block, source: Source) -> None:
        self._rows = last_rows(block, MAX_BYTES)
        self._leads = leads_of(block)
        self._name = source.name
        self._parts: dict[int, tuple[str, str]] = {}

    def resumed(self, stream: str, line: int) -> Evidence | None:
        """The last of the lines with which ``stream`` goes on after ``line`` as before, None where it does not.

        Who has said the same before, and gone on, goes on with anything ordinary that it says.
        """
        at = next((i for i, row in enumerate(self._rows) if row[0] > line), len(self._rows))
        before = self._said_before(at - 1, stream) if stream else None
        if before is not None and not self._repeated(before, at - 1, stream):
            last = next((i for i in self._of(stream, range(len(self._rows) - 1, at - 1, -1))), None)
            if last is not None and self._ordinary(last):
                return self._shown(last)
        again = (self._complained_again(at - 1) or self._handled(at - 1)) if not stream else None
        if again is not None:
            return self._shown(again)
        earlier = self._shapes(range(max(0, at - MAX_ROWS), at), stream)
        known = {shape for shape, told in earlier.items() if len(told) >= BEFORE}
        if not known:
            return None
        left = len(self._rows)
        rows = dict.fromkeys([*range(at, min(left, at + MAX_ROWS)), *range(max(at, left - MAX_ROWS), left)])
        after = self._shapes(rows, stream)
        for shape in known & after.keys():
            told = after[shape]
            if len(told) < AFTER or len(earlier[shape]) + len(told) < BOTH:
                continue
            if _counts_on([n for _, n in earlier[shape]], [n for _, n in told]):
                return self._shown(told[-1][0])
        return None

    def _repeated(self, before: int, at: int, stream: str) -> bool:
        """Whether all that a writer says after row ``at`` is word for word what it said after ``before``: one complaint of many rows."""
        told = [self._part(i)[1] for i in self._of(stream, range(at + 1, len(self._rows)))]
        first = [self._part(i)[1] for i in self._of(stream, range(before + 1, at))]
        return bool(told) and told == first[: len(told)]

    def _said_before(self, at: int, stream: str) -> int | None:
        """Where a writer had said what it says in row ``at`` before, with something ordinary in between."""
        if at < 0:
            return None
        wording = without_digits(self._part(at)[1])
        between = False
        for i in self._of(stream, range(at - 1, max(-1, at - 1 - MAX_ROWS), -1)):
            if between and without_digits(self._part(i)[1]) == wording:
                return i
            between = between or self._ordinary(i)
        return None

    def _complained_again(self, at: int) -> int | None:
        """The last row, where a nameless writer said three times and more what it says in row ``at`` and went on each time.

        What follows is its own: it begins as a line did that it had said between the complaints. Whoever is started
        anew each time would say so.
        """
        if at < 0:
            return None
        wording = without_digits(self._part(at)[1])
        first = max(0, at - MAX_ROWS)
        told = [i for i in range(first, at) if without_digits(self._part(i)[1]) == wording]
        last = len(self._rows) - 1
        if len(told) < AGAIN - 1 or last - at < 1 or last - at > MAX_ROWS:
            return None
        between = [self._part(i) for i in range(told[0] + 1, at)]
        heads = {_head(words) for name, words in between if not name and _head(words) is not None}
        said = [i for i in range(told[0] + 1, last + 1) if self._ordinary(i)]
        if any(compiled(_ANEW).search(w) for i in said if without_digits(w := self._part(i)[1]) != wording):
            return None
        own = not self._part(last)[0] and self._ordinary(last) and _head(self._part(last)[1]) in heads
        return last if own else None

    def _handled(self, at: int) -> int | None:
        """The last row, where what a logger said in row ``at`` or of the exception there is what is done instead, and it was."""
        if at < 0:
            return None
        said = self._part(at)[1]
        if compiled(_RAISED).match(said) or compiled(_INSTEAD).search(said) is None:
            top = self._head_of(at)
            while top is not None and top > 1 and self._part(top - 1)[1].startswith(LINKS):
                top = self._head_of(top - 1)  # an exception of an exception
            if not top or compiled(_INSTEAD).search(self._part(top - 1)[1]) is None:
                return None
        last = len(self._rows) - 1
        went = [
            i for i in range(at + 1, last + 1)
            if not self._part(i)[0] and self._ordinary(i) and compiled(_TIMES).match(self._part(i)[1]) is None
        ]  # fmt: skip
        return last if len(went) >= ENOUGH and went[-1] == last else None

    def _head_of(self, at: int) -> int | None:
        """The row with which the traceback begins that ends in row ``at``."""
        head = HEADER.encode()
        return next((i for i in range(at, max(-1, at - MAX_FRAMES), -1) if head in self._rows[i][1]), None)

    def _of(self, stream: str, rows: Iterable[int]) -> Iterator[int]:
        return (i for i in rows if self._part(i)[0] == stream)

    def _ordinary(self, at: int) -> bool:
        """Whether a row is a statement, and neither code nor alarming."""
        message = self._part(at)[1]
        if _WORDS.search(message) is None or _CODE.match(message) or compiled(_RAISED).match(message):
            return False
        said = NONE_OF.sub("", message)
        return compiled(_IDLE).search(said) is None and not says_goodbye(said)

    def _part(self, at: int) -> tuple[str, str]:
        """Writer and message of a row."""
        known = self._parts.get(at)
        if known is None:
            text = self._rows[at][1][: 2 * LONGEST].decode("utf-8", "replace")
            prefix, message = split(self._leads, text)
            known = self._parts[at] = (prefix.stream, message[:LONGEST])
        return known

    def _shown(self, at: int) -> Evidence:
        number, raw = self._rows[at]
        return Evidence(self._name, number, safe(raw.decode("utf-8", "replace")[:LONGEST]))

    def _shapes(self, rows: Iterable[int], stream: str) -> dict[str, list[tuple[int, list[float]]]]:
        """The lines of a writer in ``rows`` with their numbers, by what they say."""
        found: dict[str, list[tuple[int, list[float]]]] = defaultdict(list)
        for i in self._of(stream, rows):
            message = self._part(i)[1]
            first = _WORDS.search(message)
            if first is None or _CODE.match(message) or compiled(_IDLE).search(message):
                continue
            said = message[first.start() :]  # what stands before the first word may be a clock
            shape = _NUMBER.sub("0", said)
            if shape != said:
                found[shape].append((i, [float(n.replace(",", "")) for n in _NUMBER.findall(said)]))
        return found


def _head(words: str) -> str | None:
    """The name in brackets, or before a colon, with which a program begins what it says."""
    found = compiled(_HEAD).match(words)
    return None if found is None else found[0].strip()


def _counts_on(before: list[list[float]], after: list[list[float]]) -> bool:
    """Whether one of the numbers has risen all the time, and goes on to rise."""
    width = min(len(numbers) for numbers in (*before, *after))
    for column in range(width):
        values = [numbers[column] for numbers in (*before[-2:], *after)]
        rising = all(a < b for a, b in pairwise(values))
        if rising and all(v == int(v) for v in values):
            return True
    return False
