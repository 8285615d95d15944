"""What stands around the lines that tell of a failure: what it was announced with, where in the program, what went before."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from triage.model import Block, Evidence, Moment, Prefix, Source
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import WINDOW, Said, any_line, tells, without_digits, writer_of
from triage.scan.prefix import split_line
from triage.scan.traceback import HEADER
from triage.scan.traced import CLOSE
from triage.scan.whose import QUOTED, alarmed
from triage.scan.window import BlockLines, Line, record_at
from triage.scan.writers.leads import leads_of
from triage.text import safe

MOST = 3
"""Lines that a message is gone on with, of those that say something."""
NEAR = 400
"""Lines, whoever wrote them, among which that of a writer is looked for."""
FEW = 8
"""Lines of its writer before a failure among which its reason may stand."""
_ASKED_FOR_DUMPS = "dump"
"""What a watchdog says when another asks for what it has recorded, while its rank goes on."""
MOST_LINES = 1000
"""Lines of a log among which the like of one is looked for."""
FRAMES = 400
"""Lines of a traceback in which a frame is looked for."""
_ENDS_A_MESSAGE = (
    r"\s*(?:Traceback \(most recent call last\)|File \"|frame #|Exception raised from|\[Previous line|[~^ ]+$|[\"'])"
    r"|\s*(?:During handling of|The above exception)|[*=+#-]{5,}|\s*(?:\d{1,3}%|\[\w+\] \d)"
)
"""What follows a message and is no part of it."""
_ADVICE = (
    r"(?:CUDA|HIP) kernel errors might|For debugging consider|Compile with `TORCH|Device-side assertions? were|"
    r"\s*$|\s*from user code|Set TORCH|You can suppress|\s*Hint: |Search for `"
)
"""What torch says below each error of a kind, and says nothing of this one."""
_NAMED = r"\s*(?:ray\.exceptions\.\w+\([\w.]+\): )?\S*ray::\S+ \(pid=|-- Process \d+ terminated with"
"""Whose traceback follows, as those write it that pass it on."""

_READ_ON = r"(?i)\b(?:for more (?:info|details)|see(?: also)?:? https?:|refer to)"
"""Where to read about an error of the kind."""
_WORDS = r"[^\W\d_]{2}[^\n]*\s[^\n]*[^\W\d_]{2}"
"""More than one word."""
_NATIVE = r"\.(?:cc|cpp|cu|cuh|h|hpp)(?:\(|:)\d"
"""Where compiled code says that it speaks: it warns of what it meets, and seldom of settings."""
_NAME = r"(?=[\w-]*[./_\d])[\w./-]{4,}(?<![.-])"
_BAR = r"\d{1,3}%\||\dit \[|it/s\]"
_REFUSED = r"(?i)(?:\bHTTP(?:/\d\.\d)?[ :]|\bstatus(?:[ _]code)?[ =:]{1,2}|-> ?)[45]\d\d\b"
_ENDED = (
    r"(?i:exit(?:ed|s)?(?:[ _-]?(?:code|status))?|status|ended|left|gone|killed|died|terminated|crashed|code|signal|rc|->)"
    r"[^\n\d]{0,30}-?\d{1,3}\b"
)
"""How somebody is said to have ended, with a number."""
_UNRESOLVED = re.compile(
    rb"Name or service not known|[Tt]emporary failure in name resolution|Could not resolve host"
)
_NOT_FINITE = r"(?i)[=:(\[,| \t](?:nan|[-+]?inf(?:inity)?)(?![\w.])"
_COUNTS = r"(?! *File \")[^\n]{0,120}?(?:\d{1,3}(?:\.\d+)?%|\b\d+ *(?:/|of) *\d+)"
"""Lines that tell how far somebody has come, however they are drawn or indented."""


class Around:
    """The ends of a job's logs, line by line, where something is to be shown beside what was found.

    Args:
        tails: the last block of each log, by the index of its source.
        sources: all sources of the job.
        harmless: the words, without digits, of lines that mean nothing.
    """

    def __init__(
        self,
        tails: Mapping[int, Block],
        sources: Sequence[Source],
        harmless: Callable[[], Container[str]],
    ) -> None:
        self._tails = tails
        self._sources = sources
        self._harmless = harmless
        self._views: dict[int, BlockLines] = {}

    def further(self, source: int, offset: int) -> list[str]:
        """The lines with which the message goes on whose last line begins at ``offset``."""
        found = self._at(source, offset)
        if found is None:
            return []
        view, line = found
        told: list[str] = []
        for following in record_at(view, line).lines[1:]:
            if following.prefix.stamped or compiled(_ENDS_A_MESSAGE).match(following.message):
                break
            if not compiled(_ADVICE).match(following.message):
                told.append(safe(following.raw))
            if len(told) >= MOST:
                break
        return told

    def heading(self, source: int, begin: int, raised: int) -> Evidence | None:
        """With which words a traceback from ``begin`` on is announced, if they say more than that it follows.

        Of one that was passed on the nearest above the line at ``raised``, which names the exception.
        """
        found, last = self._at(source, begin), self._at(source, raised)
        if found is None or last is None:
            return None
        view, line = found
        for above in islice(view.preceding(last[1]), FRAMES):
            if above.start < line.start:
                break
            if compiled(_NAMED).match(above.message):
                return self._shown(source, view, above)
        before, header, _ = line.message.partition(HEADER)
        if header and len(before.split()) > 1 and not compiled(_BAR).search(before):
            return self._shown(source, view, line)
        for above in islice(view.preceding(line), CLOSE):
            if compiled(QUOTED).match(above.message):
                continue
            own = above.prefix.rank == line.prefix.rank or above.prefix.stream == line.prefix.stream
            told = above.prefix.level in {"error", "fatal"} or alarmed(above)
            warned = _complains(above.message) or compiled(_NATIVE).search(above.raw) is not None
            told = told or (above.prefix.level == "warning" and warned)
            if own and told and above.prefix.recorded and tells(above.raw, above.prefix, above.message):
                return self._shown(source, view, above)
        return None

    def above(self, source: int, begin: int) -> Evidence | None:
        """The nearest line above that at ``begin`` that has words."""
        found = self._at(source, begin)
        if found is None:
            return None
        view, line = found
        said = next((above for above in islice(view.preceding(line), CLOSE) if above.message.strip()), None)
        return None if said is None else self._shown(source, view, said)

    def lines(self, source: int, begin: int) -> list[Said]:
        """The lines around ``begin`` in the end of a log, whatever they are."""
        block = self._tails.get(source)
        if block is None or not 0 <= begin - block.offset < len(block.data):
            return []
        start = max(0, begin - block.offset - WINDOW)
        start = block.data.find(b"\n", start) + 1 if start else 0
        lines = any_line(block, self._sources[source], source, start)
        return [*takewhile(lambda line: line.offset < begin + WINDOW, lines)]

    def time_above(self, source: int, begin: int, words: str) -> Moment | None:
        """When a line above that at ``begin`` was written that says ``words`` as well."""
        found = self._at(source, begin)
        if found is None:
            return None
        view, line = found
        said = (above for above in islice(view.preceding(line), FRAMES) if words in above.message)
        return next((above.prefix.time for above in said if above.prefix.time is not None), None)

    def frame(self, source: int, begin: int, end: int, path: str, number: int) -> Evidence | None:
        """The frame at line ``number`` of the file ``path`` in the traceback from ``begin`` to ``end``, and its code."""
        found = self._at(source, begin)
        if found is None:
            return None
        view, line = found
        wanted = f'File "{path}", line {number}'
        shown: list[Line] = []
        for each in islice(self._from(view, line), FRAMES):
            if view.block.offset + each.start > end:
                break
            if shown:
                if each.prefix.stream == shown[0].prefix.stream:
                    if each.message.startswith("    ") and not compiled(r"\s*[~^ ]+$").match(each.message):
                        return self._shown(source, view, shown[0], each)
                    break
            elif wanted in each.message:
                shown.append(each)
        return self._shown(source, view, shown[0]) if shown else None

    def complaints(
        self, source: int, offset: int, mine: Callable[[Prefix], bool], failure: str
    ) -> list[Evidence]:
        """Of the few lines of a writer before ``offset`` the first and the last in which it complains of something.

        Who writes right above is the writer, if nothing names another. A warning that speaks of no trouble was
        there on better days too, unless it names what the ``failure`` names.
        """
        found = self._at(source, offset)
        if found is None:
            return []
        view, line = found
        named = _names(failure)
        told: dict[str, Line] = {}
        seen = 0
        for distance, above in enumerate(islice(view.preceding(line), NEAR)):
            nameless = above.prefix.rank is None and not above.prefix.stream
            if not mine(above.prefix) and not (nameless and distance < CLOSE):
                continue
            prefix = above.prefix._replace(level="error") if above.prefix.level == "fatal" else above.prefix
            if not tells(above.raw, prefix, above.message):
                continue
            seen += 1
            if seen > FEW:
                break
            if (
                without_digits(above.raw) in self._harmless()
                or compiled(_READ_ON).search(above.message)
                or compiled(_ADVICE).match(above.message)
            ):
                continue
            wordy = prefix.level == "error" and compiled(_WORDS).search(above.message) is not None
            warns = prefix.level == "warning" and not _names(above.message).isdisjoint(named)
            if wordy or warns or _complains(above.message):
                told[without_digits(above.message)] = above
        lines = list(told.values())
        return [self._shown(source, view, each) for each in dict.fromkeys([*lines[-1:], *lines[:1]])]

    def set_to(self, source: int, offset: int, value: str) -> Evidence | None:
        """The first line above ``offset`` in which something is said to be ``value``."""
        return self._first(source, offset, r"(?<![=:])[=:] {0,2}[\"']?" + re.escape(value) + r"(?![\w.-])")

    def variable(self, source: int, offset: int, name: str) -> Evidence | None:
        """The first line above ``offset`` that tells an environment variable."""
        return self._first(source, offset, r"(?<![\w])" + re.escape(name) + r"[\"']?(?:=|: )(?! *$)")

    def not_finite(self, source: int, offset: int, mine: Callable[[Prefix], bool]) -> Evidence | None:
        """The first statement above ``offset`` in which a number is none any more."""
        return self._first(source, offset, _NOT_FINITE, mine)

    def _first(
        self, source: int, offset: int, pattern: str, mine: Callable[[Prefix], bool] | None = None
    ) -> Evidence | None:
        found = self._at(source, offset)
        if found is None:
            return None
        view, last = found
        above = view.block.data[: last.start]
        for match in islice(re.finditer(pattern.encode(), above, re.MULTILINE), FRAMES):
            line = view.line_at(match.start() + 1)
            if mine is not None and not mine(line.prefix):
                continue
            if tells(line.raw, line.prefix, line.message.lstrip(" |")):
                return self._shown(source, view, line)
        return None

    def ended(self, source: int, names: Sequence[str]) -> Evidence | None:
        """The line in which somebody else says how a process ended that goes by one of ``names``."""
        block = self._tails.get(source)
        found = None if block is None else self._at(source, block.offset)
        if found is None or not names:
            return None
        view, _ = found
        who = "|".join(re.escape(name) for name in names)
        pattern = rf"(?<![\w.-])(?:{who})(?![\w.-])[^\n]{{0,60}}?{_ENDED}"
        for match in islice(re.finditer(pattern.encode(), view.block.data), FRAMES):
            line = view.line_at(match.start())
            if tells(line.raw, line.prefix, line.message) and not line.message.startswith("  "):
                return self._shown(source, view, line)
        return None

    def unresolved(self, source: int) -> Evidence | None:
        """The first line of a log in which a host's name is not known."""
        block = self._tails.get(source)
        match = None if block is None else re.search(_UNRESOLVED, block.data)
        if block is None or match is None:
            return None
        found = self._at(source, block.offset + match.start())
        return None if found is None else self._shown(source, *found)

    def counterpart(self, source: int, text: str) -> Evidence | None:
        """The first line that says the same as ``text`` with other numbers: another's, as its writer said it once."""
        block = self._tails.get(source)
        found = None if block is None else self._at(source, block.offset)
        if found is None:
            return None
        view, first = found
        said = split_line(text)[1]
        wanted = without_digits(said)
        for line in islice(self._from(view, first), MOST_LINES):
            if without_digits(line.message) == wanted and line.message != said:
                return self._shown(source, view, line)
        return None

    def doing(
        self,
        source: int,
        mine: Callable[[int, Prefix, str | None], bool],
        over: Callable[[int, int, Prefix], bool],
    ) -> tuple[Evidence | None, Evidence | None]:
        """What somebody said of its work last before something was over, and last of all before its own end.

        Args:
            source: the log.
            mine: whether a line there with this prefix, by this writer, is one of those.
            over: whether that is past at this offset of the log, in the line with this prefix.
        """
        block = self._tails.get(source)
        found = None if block is None else self._at(source, block.offset)
        if found is None:
            return None, None
        view, first = found
        before: Line | None = None
        after: Line | None = None
        passed = False
        for line in self._from(view, first):
            passed = passed or over(source, view.block.offset + line.start, line.prefix)
            if not mine(source, line.prefix, writer_of(line.prefix, self._sources[source], line.message)):
                continue
            if compiled(_COUNTS).match(line.message) or tells(line.raw, line.prefix, line.message):
                before, after = (before, line) if passed else (line, after)
            elif passed and line.prefix.level in {"error", "fatal"} and _ASKED_FOR_DUMPS not in line.message:
                break
        shown = (None if line is None else self._shown(source, view, line) for line in (before, after))
        return next(shown), next(shown)

    @staticmethod
    def _from(view: BlockLines, line: Line) -> Iterator[Line]:
        yield line
        yield from view.after(line)

    def _at(self, source: int, offset: int) -> tuple[BlockLines, Line] | None:
        block = self._tails.get(source)
        if block is None or not 0 <= offset - block.offset < len(block.data):
            return None
        view = self._views.get(source)
        if view is None:
            view = self._views[source] = BlockLines(block, leads_of(block))
        return view, view.line_at(offset - block.offset)

    def _shown(self, source: int, view: BlockLines, *lines: Line) -> Evidence:
        text = safe("\n".join(line.raw for line in lines))
        return Evidence(self._sources[source].name, view.number(lines[0].start), text)


def _names(text: str) -> set[str]:
    """The names of files, variables, peers and the like in a text."""
    return set(compiled(_NAME).findall(text))


def _complains(message: str) -> bool:
    return speaks_of_trouble(message) or compiled(_REFUSED).search(message) is not None
