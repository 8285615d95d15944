"""Whether a writer goes on, after a line, with what it did before: in words that nobody has to know.

Programs that work say the same again and again with other numbers. Where a line of one shape stands several times
before an error and several times after it, and a count in it has gone on, its writer has got over the error.
"""

from __future__ import annotations

from typing import Literal

from triage.model import Evidence
from triage.scan.closing.done import gives_up
from triage.scan.counting import (
    AFTER,
    BOTH,
    CODE,
    IDLE_VALUES,
    NUMBER,
    WORDS,
    counts_of,
    counts_on,
    goes_on,
    numbers_of,
    shape_of,
)
from triage.scan.lazy import compiled
from triage.scan.ordinary.recovery import all_count_on, begun_afresh
from triage.scan.ordinary.rows import GAVE_UP, LONGEST, MAX_ROWS, RAISED, TIMES, Rows
from triage.scan.ordinary.said import without_digits
from triage.scan.tracebacks.lines import HEADER, LINKS

BEFORE = 1
"""Lines of one shape that make a routine."""


AGAIN = 3
"""Times that a complaint is repeated by which something is known to catch it."""
_CELL = r"[-+]?\d[\d.,x]*(?:e[-+]?\d+)?%?"
_CELLS = rf"\s*(?:{_CELL}\s+){{2,}}(?=(?:-\s+)*\S*[A-Za-z])"
"""Figures at the head of a row, before the words in one of its cells."""
_HEAD = r"\s*(?:\[[^\]\d]{2,30}\]|(?!File|Traceback|[\w.]*(?:Error|Exception))[A-Za-z][\w.-]{2,30}:(?= ))"
_INSTEAD = (
    r"(?i)\b(?:fall(?:s|ing|en)?[ -]?back|fell back|instead|skip(?:s|ped|ping)?|ignor(?:e|es|ed|ing)|continuing|proceeding"
    r"|without it|left out|will be retried|(?:trying|using) (?:the )?(?:next|other|default|another))\b"
)
"""What is done where something failed."""
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
ALIKE = 60
"""Characters by which complaints are told to be the same."""
How = Literal["raised", "caught", "printed", "alarm"]
"""An exception that ended its process, as far as is known; one that the program caught; an error's words; alarming words."""
MAX_FRAMES = 80
ENOUGH = 3
"""Ordinary lines that a program says which goes on."""
_WARNS = r"(?i)\b\w+warning:|\bwarnings\.warn|\bdeprecat|^\s*\*+$|OMP_NUM_THREADS"
_TRY = r"(?i)\b(?:retry|try|attempt)\b[ #:]{0,2}(\d{1,4}) ?(?:/|of) ?(\d{1,4})\b"
_ANEW = r"(?i)\b(?:re)?(?:start|launch|spawn|submit|queu)\w*|\b(?:attempt|retr(?:y|ies|ying)|tries|giv(?:e|es|ing|en) up|gave up)\b"
"""What is said of a program that is run again and again."""


_OF_MESSAGES = 0.8
"""Part of the lines below an exception that are indented, where they are its message."""
_STAMPED = (
    r"\W{0,2}(?:\d{4}-\d\d-\d\d|[IWEF]\d{4} \d\d:|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:)|\s*\d{1,3}%\|"
)


class Routine(Rows):
    """The lines at the end of one log, by writer and shape."""

    def resumed(self, stream: str, line: int, how: How = "raised") -> Evidence | None:
        """The last of the lines with which ``stream`` goes on after ``line`` as before, None where it does not.

        Who has said the same before, and gone on, goes on with anything ordinary that it says.

        Args:
            how: what was said on ``line``.
        """
        at = self._below_its_traceback(self.below(line))
        if how == "raised" and self._message_to_the_end(at):
            return None
        before = self._said_before(at - 1, stream) if stream else None
        if before is not None and not self._repeated(before, at - 1, stream):
            last = next((i for i in self.of(stream, range(len(self._rows) - 1, at - 1, -1))), None)
            if last is not None and self.told(last):
                return self.shown(last)
        again = (
            (self._complained_again(at - 1) or self._handled(at - 1) or self._in_a_table(at - 1))
            if not stream
            else None
        )
        if again is None and how != "raised":
            again = self._went_on(at, stream, how)
        shows = how == "alarm" and at < len(self) and HEADER.encode() in self.raw(at)
        if again is None and not stream and (shows or how == "caught"):
            again = self._catches_all()
        if again is not None:
            return self.shown(again)
        found = self._as_before(at, stream)
        if found is None and not stream:
            last = all_count_on(self, at) or begun_afresh(self, at)
            found = None if last is None else self.shown(last)
        return found

    def _message_to_the_end(self, at: int) -> bool:
        """Whether the message of an exception has many lines and all below row ``at`` is of it: arrays, settings, trees of names."""
        rows = [row for row in map(self.raw, range(at, len(self._rows))) if row.strip()]
        if len(rows) < ENOUGH or sum(row[:1].isspace() for row in rows) < _OF_MESSAGES * len(rows):
            return False
        texts = [row[:LONGEST].decode("utf-8", "replace") for row in rows]
        above = {without_digits(self.raw(i)[:LONGEST].decode("utf-8", "replace")) for i in range(at)}
        # a table has such rows above, too
        return not any(compiled(_STAMPED).match(text) or without_digits(text) in above for text in texts)

    def began(self, line: int) -> Evidence | None:
        """The last of the lines with which somebody counts on, from after ``line`` to the end of the log."""
        last = self.counted_by_any(self.below(line))
        return None if last is None else self.shown(last)

    def afresh(self, line: int, died: str = "") -> Evidence | None:
        """The last line of work that is counted to the end of the log since it was said, below ``line``, that it begins again.

        Args:
            died: who ended on ``line``: it is others who say so, and it works again.
        """
        last = begun_afresh(self, self.below(line), died)
        return None if last is None else self.shown(last)

    def opens(self, line: int) -> bool:
        """Whether all of a log is at hand and nothing but a traceback, and what is warned of, stands above ``line``."""
        said = (self.part(i)[1] for i in range(self.below(line - 1)) if self._whole)
        return self._whole and not any(
            (WORDS.search(m) or counts_of(m)) and not any(compiled(p).search(m) for p in (_WARNS, rf"^(?:{RAISED})"))
            for m in said if CODE.match(m) is None
        )  # fmt: skip

    def _as_before(self, at: int, stream: str) -> Evidence | None:
        earlier = self.shapes(range(max(0, at - MAX_ROWS), at), stream)
        known = {shape for shape, told in earlier.items() if len(told) >= BEFORE}
        if not known:
            return None
        left = len(self._rows)
        rows = dict.fromkeys([*range(at, min(left, at + MAX_ROWS)), *range(max(at, left - MAX_ROWS), left)])
        after = self.shapes(rows, stream)
        for shape in known & after.keys():
            told = after[shape]
            if len(told) < AFTER or len(earlier[shape]) + len(told) < BOTH:
                continue
            if goes_on(earlier[shape], told):
                return self.shown(told[-1][0])
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
        said = [self.part(i)[1] for i in range(at - 1, min(at + (how == "alarm"), len(self._rows)))]
        remedied = any(compiled(_REMEDY).search(words) is not None for words in said)
        if remedied and stream and stream not in {self.part(i)[0] for i in rows}:
            stream = ""  # somebody who says no more than that, beside the program
        went = [
            i
            for i in (rows if how == "alarm" or (how == "caught" and not stream) else self.of(stream, rows))
            if self.told(i)
        ]
        if not went:
            return self._beside(at, stream)
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
            and went[-1] >= self.last_of(stream)
        ):
            return went[-1]
        again = how == "caught" and len(same) + 1 >= AGAIN and self._ends_well(went[-1])
        if again and (self._worked_between(same[0], at, stream) or self._said_skipped(at, went[-1])):
            return went[-1]
        last = self.counted(at, stream)
        return self._beside(at, stream) if last is None else last

    def _worked_between(self, first: int, at: int, stream: str) -> bool:
        """Whether a writer counts something from row ``first`` to row ``at`` that is not what it leaves out."""
        rows = (i for i in range(first, at) if compiled(_INSTEAD).search(self.part(i)[1]) is None)
        return any(
            len(told) >= ENOUGH and goes_on([], told[-BOTH:]) for told in self.shapes(rows, stream).values()
        )

    def _said_skipped(self, at: int, end: int) -> bool:
        """Whether what is done instead was said right above the exception before row ``at``, and row ``end`` says what was said before."""
        top = self._head_of(at - 1)
        skipped = top is not None and top > 0 and compiled(_INSTEAD).search(self.part(top - 1)[1]) is not None
        return skipped and self._known([end], at)

    def _beside(self, at: int, stream: str) -> int | None:
        """The last row in which others count their work to the end, beside whom ``stream`` had counted nothing itself."""
        if not stream or self.shapes(range(max(0, at - MAX_ROWS), at - 1), stream):
            return None
        return self.counted_by_any(at)

    def _ends_well(self, at: int) -> bool:
        """Whether the log ends with a row in which nobody gives up."""
        return at == len(self) - 1 and compiled(GAVE_UP).search(self.part(at)[1]) is None

    def _reports(self, at: int, stream: str) -> bool:
        """Whether a row is one of those in which the writer counts its work: alarming words in it name what is counted."""
        words = self.part(at)[1]
        if len(NUMBER.findall(words)) < ENOUGH:
            return False
        words = compiled(IDLE_VALUES).sub("", words)
        if compiled(_BEFELL).search(words) is not None:
            return False
        shapes = self.shapes(range(max(0, at - MAX_ROWS), min(len(self._rows), at + MAX_ROWS)), stream)
        return any(
            len(told) >= ENOUGH and any(i == at for i, _ in told) and counts_on([], [n for _, n in told])
            for told in shapes.values()
        )

    def _earlier(self, at: int, stream: str) -> list[int]:
        """The rows in which the writer said before what it says in row ``at``, something ordinary after each; none if it began anew."""
        if at < 0:
            return []
        wording = without_digits(self.part(at)[1])[:ALIKE]
        found: list[int] = []
        between = False
        for i in self.of(stream, range(at - 1, max(-1, at - 1 - MAX_ROWS), -1)):
            words = without_digits(self.part(i)[1])[:ALIKE]
            if words == wording:
                if between:
                    found.append(i)
                between = False
            elif compiled(_ANEW).search(words) is not None:
                return []
            elif self.ordinary(i):
                between = True
        return found[::-1]

    def _known(self, rows: list[int], at: int) -> bool:
        """Whether one of ``rows`` says what was said above row ``at`` too, but for its numbers.

        What is said after each complaint belongs to it: ``at`` is the row of the first.
        """
        said = {shape_of(self.part(i)[1]) for i in range(max(0, at - MAX_ROWS), at)}
        return any(shape_of(self.part(i)[1]) in said for i in rows)

    def _starts_over(self, at: int, stream: str) -> bool:
        """Whether the writer counts anew after row ``at`` what it had counted before: another run does."""
        before = self.shapes(range(max(0, at - MAX_ROWS), at), stream)
        after = self.shapes(range(at, min(len(self._rows), at + MAX_ROWS)), stream)
        for shape in before.keys() & after.keys():
            past, new = [n for _, n in before[shape]][-BOTH:], after[shape][0][1]
            risen = [c for c in range(len(new)) if counts_on([[p[c]] for p in past[:-1]], [[past[-1][c]]])]
            if len(past) > 1 and risen and all(new[c] < past[-1][c] for c in risen):
                return True
        return False

    def _risen(self, rows: list[int]) -> bool:
        """Whether a number at the head of what was said again and again has risen each time: one program said it."""
        numbers = [numbers_of(self.part(i)[1][:ALIKE]) for i in rows]
        return counts_on(numbers[:-1][-2:], numbers[-1:])

    def _repeated(self, before: int, at: int, stream: str) -> bool:
        """Whether all that a writer says after row ``at`` is word for word what it said after ``before``: one complaint of many rows."""
        told = [self.part(i)[1] for i in self.of(stream, range(at + 1, len(self._rows)))]
        first = [self.part(i)[1] for i in self.of(stream, range(before + 1, at))]
        return bool(told) and told == first[: len(told)]

    def _said_before(self, at: int, stream: str) -> int | None:
        """Where a writer had said what it says in row ``at`` before, with something ordinary in between."""
        if at < 0:
            return None
        wording = without_digits(self.part(at)[1])
        between = False
        for i in self.of(stream, range(at - 1, max(-1, at - 1 - MAX_ROWS), -1)):
            if between and without_digits(self.part(i)[1]) == wording:
                return i
            between = between or self.ordinary(i)
        return None

    def _complained_again(self, at: int) -> int | None:
        """The last row, where a nameless writer said three times and more what it says in row ``at`` and went on each time.

        What follows is its own: it begins as a line did that it had said between the complaints. Whoever is started
        anew each time would say so.
        """
        if at < 0:
            return None
        wording = without_digits(self.part(at)[1])
        first = max(0, at - MAX_ROWS)
        told = [i for i in range(first, at) if without_digits(self.part(i)[1]) == wording]
        last = len(self._rows) - 1
        to_the_end = all(without_digits(self.part(i)[1]) == wording for i in range(at + 1, last + 1))
        if to_the_end and self._tries_left(last) and len(self._earlier(at, "")) >= AGAIN:
            return last  # a log that is read while it is written may end anywhere
        if len(told) < AGAIN - 1 or last - at < 1 or last - at > MAX_ROWS:
            return None
        between = [self.part(i) for i in range(told[0] + 1, at)]
        heads = {_head(words) for name, words in between if not name and _head(words) is not None}
        said = [i for i in range(told[0] + 1, last + 1) if self.ordinary(i)]
        if any(compiled(_ANEW).search(w) for i in said if without_digits(w := self.part(i)[1]) != wording):
            return None
        own = not self.part(last)[0] and self.told(last) and _head(self.part(last)[1]) in heads
        if own or self._goes_on_each_time([*told, at], last):
            return last
        return self._next(told[0], at)

    def _tries_left(self, at: int) -> bool:
        """Whether a complaint says which of so many tries it was, and that was not the last."""
        found = compiled(_TRY).search(self.part(at)[1])
        return found is not None and int(found[1]) < int(found[2])

    def _goes_on_each_time(self, complaints: list[int], last: int) -> bool:
        """Whether something ordinary is said after each of some rows, and enough after the last: what ends a process ends it once."""
        ends = [*complaints[1:], last + 1]
        said = [
            sum(self.told(i) for i in range(one + 1, two)) for one, two in zip(complaints, ends, strict=True)
        ]
        times = sum(many > 0 for many in said)  # several may complain of it together
        return times >= AGAIN and said[-1] >= ENOUGH and self.told(last)

    def _catches_all(self) -> int | None:
        """The last row, where a nameless program printed three tracebacks and more, said something after each, and ends well."""
        head = HEADER.encode()
        first = max(0, len(self) - MAX_ROWS)
        heads = [i for i in range(first, len(self)) if head in self._rows[i][1] and not self.part(i)[0]]
        last = len(self) - 1
        well = self._ends_well(last) and not gives_up(self.part(last)[1])
        return last if heads and well and self._goes_on_each_time(heads, last) else None

    def _next(self, first: int, at: int) -> int | None:
        """A row below row ``at`` in which a nameless writer counts on what it had counted between its complaints, from row ``first`` on."""
        between = self.shapes(range(first + 1, at), "")
        after = self.shapes(range(at + 1, min(len(self._rows), at + MAX_ROWS)), "")
        return next(
            (
                rows[-1][0]
                for shape, rows in after.items()
                if len(past := between.get(shape, [])) >= AGAIN - 1
                and counts_on([n for _, n in past], [n for _, n in rows])
            ),
            None,
        )

    def _in_a_table(self, at: int) -> int | None:
        """The last row, where row ``at`` has its complaint in a cell of a table whose other rows have figures there.

        Who prints an error in its own columns has caught it, and tries the next setting.
        """
        if at < 0 or len(self) - 1 - at > MAX_ROWS:
            return None
        cells = compiled(_CELLS).match(self.part(at)[1])
        if cells is None:
            return None
        alike = compiled(rf"\s*(?:{_CELL}\s+){{{len(cells[0].split())}}}{_CELL}(?:\s+{_CELL})*\s*$")
        rows = sum(alike.match(self.part(i)[1]) is not None for i in range(max(0, at - MAX_ROWS), at))
        last = len(self) - 1
        ends = last == at or self.told(last) or compiled(_CELLS).match(self.part(last)[1]) is not None
        return last if rows >= AGAIN and ends else None

    def _handled(self, at: int) -> int | None:
        """The last row, where what a logger said in row ``at`` or of the exception there is what is done instead, and it was."""
        if at < 0:
            return None
        said = self.part(at)[1]
        head = at
        if compiled(RAISED).match(said) or compiled(_INSTEAD).search(said) is None:
            top = self._head_of(at)
            while top is not None and top > 1 and self.part(top - 1)[1].startswith(LINKS):
                top = self._head_of(top - 1)  # an exception of an exception
            if not top or compiled(_INSTEAD).search(self.part(top - 1)[1]) is None:
                return None
            head = top - 1
        last = len(self._rows) - 1
        if at == last and len(self._earlier(head, "")) >= AGAIN:
            return last  # a log that is read while it is written may end anywhere
        went = [
            i for i in range(at + 1, last + 1)
            if not self.part(i)[0] and self.told(i) and compiled(TIMES).match(self.part(i)[1]) is None
        ]  # fmt: skip
        return last if len(went) >= ENOUGH and went[-1] == last else None

    def _below_its_traceback(self, at: int) -> int:
        """The end of the log, where nothing stands from row ``at`` on but the traceback of what was said right above."""
        if at >= len(self) or len(self) - at > MAX_FRAMES or HEADER.encode() not in self._rows[at][1]:
            return at
        said = [self.part(i)[1] for i in range(at, len(self))]
        whole = compiled(RAISED).match(said[-1]) and all(CODE.match(words) for words in said[:-1])
        return len(self) if whole else at

    def _head_of(self, at: int) -> int | None:
        """The row with which the traceback begins that ends in row ``at``."""
        head = HEADER.encode()
        return next((i for i in range(at, max(-1, at - MAX_FRAMES), -1) if head in self._rows[i][1]), None)


def _head(words: str) -> str | None:
    """The name in brackets, or before a colon, with which a program begins what it says."""
    found = compiled(_HEAD).match(words)
    return None if found is None else found[0].strip()
