"""The lines at the end of one log: who wrote each, what it says, and what is counted in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from triage.model import Block, Evidence, Source
from triage.scan.closing.tail import last_rows
from triage.scan.closing.wordings import NONE_OF, says_goodbye, speaks_of_trouble
from triage.scan.counting import CODE, IDLE_VALUES, WORDS, Told, counts_of, goes_on
from triage.scan.lazy import compiled
from triage.scan.writers.leads import leads_of, split
from triage.text import safe

MAX_BYTES = 2 << 20
"""Bytes at the end of a log that are looked at."""
MAX_ROWS = 600
"""Lines that are looked at on each side, and at the very end."""
LONGEST = 400
"""Characters of a line that are compared."""
MANY, LAST = 5, 12
"""Lines of one shape that are work which has begun, and lines that may come after the last of them."""
_WRITERS = 4
"""Writers of the same words among whose lines a count may have to be looked for."""
_IDLE = (
    r"(?i)\b(?:heart-?beat\w*|alive|wait\w*|idle|poll\w*|ping|monitor\w*|watch\w*|retr(?:y|ies|ying)|attempt\w*|tries|try"
    r"|elapsed(?! time per)|uptime"
    r"|errors?(?!(?<=s)\W{0,3}\d|\W{1,3}\d+\.\d)|fail\w*|exceptions?|warn\w*|timed?[ _]?out\w*|stuck|hung|kill\w*|abort\w*|util\w*"
    r"|temp\w*|memory"
    r"|no progress|empty|nothing|no (?:new|more|answer|reply|data|work|batch(?:es)?|messages?))\b"
    r"|\bg(?:ive|ives|iving|ave) up\b|\bfor \d[\d.]* ?(?:s|secs?|seconds|min\w*)\b"
)
"""What is also counted where nothing moves on, and what says itself that something is wrong."""
IN_VAIN = r" HTTP/[12](?:\.[01])?\\?\" [45]\d\d\b|\"GET /(?!health|ping)\S{0,200} HTTP/"
"""An access line that tells of no work done."""
_STILL = r"(?i)\bgeneration throughput: 0\.0 tokens/s, Running: 0 req"
"""How a server says that it does nothing."""
RAISED = r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b"
TIMES = r"(?:real|user|sys)\s+\d"
"""What the shell says of the time that a program took."""
_OF_SHELLS = TIMES + r"|\++ |(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w* \w+ +\d"
"""What a script says whatever became of its programs."""
_TORN_DOWN = r"\bdestroy_process_group\(\) was not called\b|\bresource_tracker: |^\s*warnings\.warn\("
GAVE_UP = (
    r"(?i)\b(?:g(?:ive|ives|iving|ave) up|used up|exhausted|exceeded|enough|abort\w*|stop(?:s|ped|ping)?|not (?:re-?)?(?:start|tr[yi])\w*"
    r"|no \w+ (?:left|succeeded|worked))\b"
)
"""What is said where nothing more is tried."""


_TRIES = r"(?i)\b(?:tr(?:y|ies|ying|ial)|attempt|start\w*|launch\w*|run(?:ning)?|begin\w*|stage|phase|part)\b"
"""How what is done several times, or in several parts, is announced."""


class Rows:
    """The lines at the end of one log, by writer and shape."""

    def __init__(self, block: Block, source: Source) -> None:
        self._rows = last_rows(block, MAX_BYTES)
        self._leads = leads_of(block)
        self._name = source.name
        self._whole = not block.offset and len(block.data) <= MAX_BYTES
        self._parts: dict[int, tuple[str, str]] = {}
        self._tries: dict[int, tuple[str, list[float]] | None] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def below(self, line: int) -> int:
        """The first row after a line of the log."""
        return next((i for i, row in enumerate(self._rows) if row[0] > line), len(self._rows))

    def raw(self, at: int) -> bytes:
        """A row as it stands in the log."""
        return self._rows[at][1]

    def of(self, stream: str, rows: Iterable[int]) -> Iterator[int]:
        """Those of ``rows`` that a writer wrote."""
        return (i for i in rows if self.part(i)[0] == stream)

    def part(self, at: int) -> tuple[str, str]:
        """Writer and message of a row."""
        known = self._parts.get(at)
        if known is None:
            text = self._rows[at][1][: 2 * LONGEST].decode("utf-8", "replace")
            prefix, message = split(self._leads, text)
            known = self._parts[at] = (prefix.stream, message[:LONGEST])
        return known

    def tried(self, at: int) -> tuple[str, list[float]] | None:
        """What a row counts that announces one of several tries or parts, None where it is none."""
        if at not in self._tries:
            message = self.part(at)[1]
            self._tries[at] = counts_of(message) if compiled(_TRIES).search(message) else None
        return self._tries[at]

    def ordinary(self, at: int) -> bool:
        """Whether a row is a statement, and neither code nor alarming."""
        message = self.part(at)[1]
        if WORDS.search(message) is None or CODE.match(message) or compiled(RAISED).match(message):
            return False
        said = NONE_OF.sub("", message)
        return not _idle(said) and not says_goodbye(said)

    def told(self, at: int) -> bool:
        """Whether a row states something ordinary of the program's own."""
        if at < 0 or not self.ordinary(at):
            return False
        message = self.part(at)[1]
        return not any(compiled(p).search(message) for p in (rf"^(?:{_OF_SHELLS})", IN_VAIN, _STILL))

    def last_of(self, stream: str) -> int:
        """The last row of a writer, but for what libraries say as they are torn down, and what a shell echoes."""
        rows = self.of(stream, range(len(self._rows) - 1, -1, -1))
        passing = compiled(f"{_TORN_DOWN}|^(?:{_OF_SHELLS})")
        return next((i for i in rows if passing.search(self.part(i)[1]) is None), -1)

    def shown(self, at: int) -> Evidence:
        """A row as evidence."""
        number, raw = self._rows[at]
        return Evidence(self._name, number, safe(raw.decode("utf-8", "replace")[:LONGEST]))

    def shapes(self, rows: Iterable[int], stream: str) -> dict[str, list[tuple[int, list[float]]]]:
        """The lines of a writer in ``rows`` with their numbers, by what they say."""
        found: dict[str, list[tuple[int, list[float]]]] = defaultdict(list)
        for i in self.of(stream, rows):
            message = self.part(i)[1]
            if self.raw(i).startswith(b"{"):
                message = self.raw(i)[:LONGEST].decode(
                    "utf-8", "replace"
                )  # of a record, the event alone is no count
            if CODE.match(message) or _idle(message) or compiled(IN_VAIN).search(message):
                continue
            told = counts_of(message)
            if told is not None:
                found[told[0]].append((i, told[1]))
        return found

    def counted(self, at: int, stream: str, many: int = MANY) -> int | None:
        """The last row of those in which ``stream`` counts its work, ``many`` times, from row ``at`` to the end of the log."""
        left = len(self._rows)
        shapes = self.shapes(range(max(at, left - MAX_ROWS), left), stream)
        counted = [told[-1][0] for told in shapes.values() if len(told) >= many and _counts(told)]
        last = max(counted, default=None)
        if last is None or sum(1 for _ in self.of(stream, range(last + 1, left))) > LAST:
            return None
        return last if self.told(self.last_of(stream)) or last == self.last_of(stream) else None

    def counted_by_any(self, at: int, many: int = MANY) -> int | None:
        """The last row in which anybody counts work, from row ``at`` to the end of the log, where nobody gives up or complains below it."""
        left = len(self._rows)
        streams = {self.part(i)[0] for i in range(max(at, left - MAX_ROWS), left)}
        found = [last for stream in sorted(streams) if (last := self.counted(at, stream, many)) is not None]
        if not found:
            return None
        last = max(found)
        bad = (
            compiled(GAVE_UP).search(self.part(i)[1]) or speaks_of_trouble(self.raw(i)[:LONGEST].decode("utf-8", "replace"))
            for i in range(last + 1, left)
        )  # fmt: skip
        return None if any(bad) else last


def _counts(told: Told) -> bool:
    """Whether the last of some lines of one shape count on."""
    return goes_on([], told[-MANY:]) or goes_on([], told[-MANY * _WRITERS :])


def _idle(message: str) -> bool:
    """Whether a line says what is also said where nothing moves on."""
    return compiled(_IDLE).search(compiled(IDLE_VALUES).sub("", message)) is not None
