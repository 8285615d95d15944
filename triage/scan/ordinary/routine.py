"""Whether a writer goes on, after a line, with what it did before: in words that nobody has to know.

Programs that work say the same again and again with other numbers. Where a line of one shape stands several times
before an error and several times after it, and a count in it has gone on, its writer has got over the error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal

from triage.model import Block, Evidence, Source
from triage.scan.closing.tail import NONE_OF, last_rows, says_goodbye
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import without_digits
from triage.scan.tracebacks.lines import HEADER, LINKS
from triage.scan.writers.leads import leads_of, split
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
_WORDS = deferred(r"[^\W\d_]{2,}")
_CLOCK = r"[^\w\n]{0,3}\d+[:/.-]\d+[:/.-]\d"
_CODE = deferred(r'\s*(?:File "|\^|~|Traceback|#\d+ |@ |frame #)|\s{4,}\S')
_IDLE = (
    r"(?i)\b(?:heart-?beat\w*|alive|wait\w*|idle|poll\w*|ping|monitor\w*|watch\w*|retr(?:y|ies|ying)|attempt\w*|tries|try|elapsed|uptime"
    r"|errors?(?!(?<=s)\W{0,3}\d)|fail\w*|exceptions?|warn\w*|timed?[ _]?out\w*|stuck|hung|kill\w*|abort\w*|util\w*|temp\w*|memory"
    r"|no progress|empty|nothing|no (?:new|more|answer|reply|data|work|batch(?:es)?|messages?))\b"
    r"|\bfor \d[\d.]* ?(?:s|secs?|seconds|min\w*)\b"
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
_REMEDY = (
    r"(?i)\b(?:retrying|re-?try (?:in|after)|will (?:be )?re-?tr(?:y|ied)|try(?:ing)? again|start(?:ing|ed)? (?:\w+ )?again"
    r"|re-?(?:start|spawn|creat|connect|read|queu)(?:ing|ed)|skipp(?:ing|ed)|pruned|left out|quarantined|fall(?:ing|s)? back|fell back"
    r"|instead|ignor(?:ing|ed)|continuing|proceeding"
    r"|(?:halv|reduc|lower|shrink|cutt)(?:ing|ed) (?:the )?(?:\w+ ){0,2}(?:batch|size)\w*)\b"
    r"(?!.*\b(?:giv(?:ing|en) up|abort\w*|exit\w*|fatal)\b)"
)
"""What a complaint says that is done about it."""
_BEFELL = r"(?i)\b(?:crashed|died|killed|failed|refused|aborted|exited|timed out|unable|cannot|can't|could ?n[o']t)\b"
"""What is said of one thing that befell somebody; a report has its numbers under names."""
_OF_SHELLS = _TIMES + r"|\++ |(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w* \w+ +\d"
"""What a script says whatever became of its programs."""
_TORN_DOWN = r"\bdestroy_process_group\(\) was not called\b|\bresource_tracker: |^\s*warnings\.warn\("
NAMES = 2
"""Numbers at the head of a line by which processes may tell themselves apart."""
MANY, LAST = 5, 12
"""Lines of one shape that are work which has begun, and lines that may come after the last of them."""
ALIKE = 60
"""Characters by which complaints are told to be the same."""
How = Literal["raised", "caught", "printed", "alarm"]
"""An exception that ended its process, as far as is known; one that the program caught; an error's words; alarming words."""
MAX_FRAMES = 80
ENOUGH = 3
"""Ordinary lines that a program says which goes on."""
_ANEW = r"(?i)\b(?:re)?(?:start|launch|spawn|submit|queu)\w*|\b(?:attempt|retr(?:y|ies|ying)|tries|giv(?:e|es|ing|en) up|gave up)\b"
"""What is said of a program that is run again and again."""


_Told = list[tuple[int, list[float]]]
"""Rows of one shape, with their numbers."""


class Routine:
    """The lines at the end of one log, by writer and shape."""

    def __init__(self, block: Block, source: Source) -> None:
        self._rows = last_rows(block, MAX_BYTES)
        self._leads = leads_of(block)
        self._name = source.name
        self._parts: dict[int, tuple[str, str]] = {}

    def resumed(self, stream: str, line: int, how: How = "raised") -> Evidence | None:
        """The last of the lines with which ``stream`` goes on after ``line`` as before, None where it does not.

        Who has said the same before, and gone on, goes on with anything ordinary that it says.

        Args:
            how: what was said on ``line``.
        """
        at = next((i for i, row in enumerate(self._rows) if row[0] > line), len(self._rows))
        before = self._said_before(at - 1, stream) if stream else None
        if before is not None and not self._repeated(before, at - 1, stream):
            last = next((i for i in self._of(stream, range(len(self._rows) - 1, at - 1, -1))), None)
            if last is not None and self._ordinary(last):
                return self._shown(last)
        again = (self._complained_again(at - 1) or self._handled(at - 1)) if not stream else None
        if again is None and how != "raised":
            again = self._went_on(at, stream, how)
        if again is not None:
            return self._shown(again)
        return self._as_before(at, stream)

    def began(self, line: int) -> Evidence | None:
        """The last of the lines with which somebody counts on, from after ``line`` to the end of the log."""
        at = next((i for i, row in enumerate(self._rows) if row[0] > line), len(self._rows))
        streams = {self._part(i)[0] for i in range(max(at, len(self._rows) - MAX_ROWS), len(self._rows))}
        found = [last for stream in sorted(streams) if (last := self._began(at, stream)) is not None]
        return self._shown(max(found)) if found else None

    def _as_before(self, at: int, stream: str) -> Evidence | None:
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
            if _counts_on([n for _, n in earlier[shape]], [n for _, n in told]) or _one_counts_on(
                earlier[shape], told
            ):
                return self._shown(told[-1][0])
        return None

    def _went_on(self, at: int, stream: str, how: How) -> int | None:
        """The last row, where what was said above row ``at`` ended nothing: it was caught, or only said.

        What says of itself what is done about it is answered by anything ordinary; so is what the writer had said
        before and had gone on from. What was caught wants more of it, of the kind that there was before, and what was only
        said, work that is counted.
        """
        if how == "alarm" and self._reports(at - 1, stream):
            return at - 1
        rows = range(at, len(self._rows))
        # what is done about it may be said right below
        said = [self._part(i)[1] for i in range(at - 1, min(at + (how == "alarm"), len(self._rows)))]
        remedied = any(compiled(_REMEDY).search(words) is not None for words in said)
        if remedied and stream and stream not in {self._part(i)[0] for i in rows}:
            stream = ""  # somebody who says no more than that, beside the program
        went = [
            i
            for i in (rows if how == "alarm" or (how == "caught" and not stream) else self._of(stream, rows))
            if self._told(i)
        ]
        if not went:
            return None
        same = self._earlier(at - 1, stream)
        own = how == "alarm" or (how == "caught" and bool(same) and self._known(went, same[0]))
        if same and (own or self._risen([*same, at - 1])):
            return went[-1]
        if how == "alarm" and remedied:
            return went[-1]
        if self._starts_over(at, stream):
            return None
        if (
            how == "caught"
            and len(went) >= ENOUGH
            and self._known(went, at)
            and went[-1] >= self._last_of(stream)
        ):
            return went[-1]
        return self._began(at, stream)

    def _reports(self, at: int, stream: str) -> bool:
        """Whether a row is one of those in which the writer counts its work: alarming words in it name what is counted."""
        words = self._part(at)[1]
        if len(_NUMBER.findall(words)) < ENOUGH or compiled(_BEFELL).search(words) is not None:
            return False
        shapes = self._shapes(range(max(0, at - MAX_ROWS), min(len(self._rows), at + MAX_ROWS)), stream)
        return any(
            len(told) >= ENOUGH and any(i == at for i, _ in told) and _counts_on([], [n for _, n in told])
            for told in shapes.values()
        )

    def _began(self, at: int, stream: str) -> int | None:
        """The last row of those in which ``stream`` counts its work, from after row ``at`` to the end of the log."""
        left = len(self._rows)
        shapes = self._shapes(range(max(at, left - MAX_ROWS), left), stream)
        counted = [
            told[-1][0]
            for told in shapes.values()
            if len(told) >= MANY and _counts_on([], [n for _, n in told[-MANY:]])
        ]
        last = max(counted, default=None)
        if last is None or sum(1 for _ in self._of(stream, range(last + 1, left))) > LAST:
            return None
        return last if self._told(self._last_of(stream)) else None

    def _earlier(self, at: int, stream: str) -> list[int]:
        """The rows in which the writer said before what it says in row ``at``, something ordinary after each; none if it began anew."""
        if at < 0:
            return []
        wording = without_digits(self._part(at)[1])[:ALIKE]
        found: list[int] = []
        between = False
        for i in self._of(stream, range(at - 1, max(-1, at - 1 - MAX_ROWS), -1)):
            words = without_digits(self._part(i)[1])[:ALIKE]
            if words == wording:
                if between:
                    found.append(i)
                between = False
            elif compiled(_ANEW).search(words) is not None:
                return []
            elif self._ordinary(i):
                between = True
        return found[::-1]

    def _known(self, rows: list[int], at: int) -> bool:
        """Whether one of ``rows`` says what was said above row ``at`` too, but for its numbers.

        What is said after each complaint belongs to it: ``at`` is the row of the first.
        """
        said = {_shape(self._part(i)[1]) for i in range(max(0, at - MAX_ROWS), at)}
        return any(_shape(self._part(i)[1]) in said for i in rows)

    def _starts_over(self, at: int, stream: str) -> bool:
        """Whether the writer counts anew after row ``at`` what it had counted before: another run does."""
        before = self._shapes(range(max(0, at - MAX_ROWS), at), stream)
        after = self._shapes(range(at, min(len(self._rows), at + MAX_ROWS)), stream)
        for shape in before.keys() & after.keys():
            past, new = [n for _, n in before[shape]][-BOTH:], after[shape][0][1]
            risen = [c for c in range(len(new)) if _counts_on([[p[c]] for p in past[:-1]], [[past[-1][c]]])]
            if len(past) > 1 and risen and all(new[c] < past[-1][c] for c in risen):
                return True
        return False

    def _risen(self, rows: list[int]) -> bool:
        """Whether a number at the head of what was said again and again has risen each time: one program said it."""
        numbers = [
            [float(n.replace(",", "")) for n in _NUMBER.findall(self._part(i)[1][:ALIKE])] for i in rows
        ]
        return _counts_on(numbers[:-1][-2:], numbers[-1:])

    def _last_of(self, stream: str) -> int:
        """The last row of a writer, but for what libraries say as they are torn down."""
        rows = self._of(stream, range(len(self._rows) - 1, -1, -1))
        return next((i for i in rows if compiled(_TORN_DOWN).search(self._part(i)[1]) is None), -1)

    def _told(self, at: int) -> bool:
        """Whether a row states something ordinary of the program's own."""
        return at >= 0 and self._ordinary(at) and compiled(_OF_SHELLS).match(self._part(at)[1]) is None

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
        return last if own else self._next(told[0], at)

    def _next(self, first: int, at: int) -> int | None:
        """A row below row ``at`` in which a nameless writer counts on what it had counted between its complaints, from row ``first`` on."""
        between = self._shapes(range(first + 1, at), "")
        after = self._shapes(range(at + 1, min(len(self._rows), at + MAX_ROWS)), "")
        return next(
            (
                rows[-1][0]
                for shape, rows in after.items()
                if len(past := between.get(shape, [])) >= AGAIN - 1
                and _counts_on([n for _, n in past], [n for _, n in rows])
            ),
            None,
        )

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
            # what stands before the first word may be a clock
            said = message[first.start() :] if compiled(_CLOCK).match(message) else message
            shape = _shape(said)
            if _NUMBER.search(said) is not None:
                found[shape].append((i, [float(n.replace(",", "")) for n in _NUMBER.findall(said)]))
        return found


def _shape(words: str) -> str:
    """What a line says, whatever its numbers."""
    return " ".join(_NUMBER.sub("0", words).split())


def _head(words: str) -> str | None:
    """The name in brackets, or before a colon, with which a program begins what it says."""
    found = compiled(_HEAD).match(words)
    return None if found is None else found[0].strip()


def _one_counts_on(before: _Told, after: _Told) -> bool:
    """Whether one of several goes on to count, who tell themselves apart by a number ahead of the count."""
    width = min((len(numbers) for _, numbers in (*before, *after)), default=0)
    for column in range(min(width - 1, NAMES)):
        for name in {numbers[column] for _, numbers in before}:
            past = [numbers for _, numbers in before if numbers[column] == name]
            new = [numbers for _, numbers in after if numbers[column] == name]
            if len(new) >= AFTER and len(past) + len(new) >= BOTH and _counts_on(past, new):
                return True
    return False


def _counts_on(before: list[list[float]], after: list[list[float]]) -> bool:
    """Whether one of the numbers has risen all the time, and goes on to rise."""
    width = min(len(numbers) for numbers in (*before, *after))
    for column in range(width):
        values = [numbers[column] for numbers in (*before[-2:], *after)]
        rising = all(a < b for a, b in pairwise(values))
        if rising and all(v == int(v) for v in values):
            return True
    return False
