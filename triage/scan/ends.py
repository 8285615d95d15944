"""What the ends of a job's logs say in lines that no rule has recognised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from triage.model import Block, Evidence, Finding, Prefix, Source
from triage.rules.loader import RuleSet
from triage.rules.patterns import compile_pattern
from triage.scan.around import Around
from triage.scan.closing.tail import alarms, aside, closing, last_words, ordinary
from triage.scan.closing.wordings import speaks_of_trouble
from triage.scan.lazy import compiled
from triage.scan.matching import PATTERN_TIMEOUT
from triage.scan.ordinary.chorus import SOLO, chorus
from triage.scan.ordinary.completion import given_up
from triage.scan.ordinary.concert import in_concert, left_out
from triage.scan.ordinary.counted import COUNTS, counted
from triage.scan.ordinary.dropped_out import dropped_out
from triage.scan.ordinary.durations import TIMES, durations
from triage.scan.ordinary.figures import lost
from triage.scan.ordinary.finite import first_not_finite
from triage.scan.ordinary.mentioned import mentioned
from triage.scan.ordinary.nothing import nothing_done
from triage.scan.ordinary.oddities import oddities
from triage.scan.ordinary.pacing import PACED, own_pace
from triage.scan.ordinary.retrying import retrying
from triage.scan.ordinary.routine import How, Routine
from triage.scan.ordinary.said import lines_around, without_digits
from triage.scan.ordinary.selves import Selves, selves, went_on
from triage.scan.ordinary.stacks import stacks
from triage.scan.ordinary.standstill import stood_still
from triage.scan.ordinary.unfinished import unfinished
from triage.scan.ordinary.unwritten import unwritten
from triage.scan.ordinary.waiting import waiting
from triage.scan.prefix import split_line
from triage.scan.writers.leads import NONE, leads_of, split

if TYPE_CHECKING:
    import regex

Lines = Sequence[tuple[int, Evidence]]
"""Lines with the indices of their sources."""
Parts = Mapping[int, Sequence[tuple[int, int, int]]]
"""Where several logs begin that one source shows: the byte, the line, and the index that the log has as a source."""


class Ends:
    """The ends of the logs of one job. They are read when asked for: mostly rules know enough.

    Args:
        tails: the last block of each log, by the index of its source.
        sources: all sources of the job.
        findings: what rules have recognised.
        rules: the rules, whose roles tell which of the recognised lines are harmless.
    """

    def __init__(
        self,
        tails: Mapping[int, Block],
        sources: Sequence[Source],
        findings: Iterable[Finding],
        rules: RuleSet,
    ) -> None:
        self._tails = tails
        self._sources = sources
        self._findings = findings
        self._rules = rules
        self._routines: dict[int, Routine] = {}

    def parted(self, parts: Parts, sources: Sequence[Source], findings: Iterable[Finding]) -> Ends | None:
        """The ends of the logs that some sources show one after the other, as logs of their own; None where more is not known.

        Args:
            parts: where they begin in each source, with the line that is, and which of ``sources`` they are.
            findings: what rules have recognised, each in the source that it is of.
        """
        tails = dict(self._tails)
        for index, begins in parts.items():
            block = tails.pop(index, None)
            if block is None or block.offset:
                return None
            for number, (offset, line, source) in enumerate(begins):
                end = begins[number + 1][0] if number + 1 < len(begins) else len(block.data)
                data = block.data[offset:end]
                tails[source] = Block(data, offset, line, 0, len(data), last=True)
            before = block.data[: begins[0][0]]
            if before.strip():
                tails[index] = Block(before, 0, block.line, 0, len(before), last=True)
        return Ends(tails, sources, findings, self._rules)

    @cached_property
    def last_words(self) -> Lines:
        """The last lines that state an error in so many words."""
        return self._unknown(last_words)

    def words_before(self, until: Mapping[int, int]) -> Lines:
        """The lines right before an offset, ``until`` in each source, that state an error in so many words."""
        return self._unknown(
            last_words,
            {i: b for i, block in self._tails.items() if i in until if (b := _cut(block, until[i]))},
        )

    @cached_property
    def alarms(self) -> Lines:
        """The last lines with alarming words in them."""
        return self._unknown(alarms)

    @cached_property
    def closing(self) -> Lines:
        """The lines, whatever they say, of logs as short as what people paste."""
        return self._unknown(closing)

    @cached_property
    def ordinary(self) -> bool:
        """Whether all logs end like those of programs at work, but for what tells of no end at all."""
        taken = self._taken
        telling = [(index, block) for index, block in self._tails.items() if not aside(block)]
        return bool(telling) and all(
            ordinary(block, {*taken.get(self._sources[index].name, ()), *self._answered(index)})
            for index, block in telling
        )

    def _answered(self, source: int) -> Iterator[int]:
        """The alarming lines of a log, and those that state an error, after which it goes on."""
        said: list[tuple[Lines, How]] = [(self.alarms, "alarm"), (self.last_words, "printed")]
        for lines, how in said:
            for index, shown in lines:
                if index != source or shown.line is None:
                    continue
                stream = self.split(source, shown.text.partition("\n")[0])[0].stream
                if self.resumed(source, stream, shown.line, how) is not None:
                    yield shown.line

    def resumed(self, source: int, stream: str, line: int, how: How = "raised") -> Evidence | None:
        """The line with which a writer goes on after ``line`` as it did before, None without."""
        routine = self._routine(source)
        return None if routine is None else routine.resumed(stream, line, how)

    def began(self, source: int, line: int) -> Evidence | None:
        """The line with which somebody counts on at the end of a log, having begun after ``line``."""
        routine = self._routine(source)
        return None if routine is None else routine.began(line)

    def afresh(self, source: int, line: int, died: str = "") -> Evidence | None:
        """The line with which somebody counts on at the end of a log, having begun again after ``line``; the one who ``died`` too."""
        routine = self._routine(source)
        return None if routine is None else routine.afresh(line, died)

    def opens(self, source: int, line: int) -> bool:
        """Whether nothing ordinary was said above ``line``."""
        routine = self._routine(source)
        return routine is not None and routine.opens(line)

    def said(self, source: int, first: int, last: int) -> Sequence[str]:
        """The lines between two, but for those without words; of what lies above the end of a log nothing is known."""
        block = self._tails.get(source)
        if block is None or last < block.line:
            return ()
        rows = block.data.split(b"\n")[max(0, first - block.line + 1) : last - block.line]
        return [text for raw in rows if any(map(str.isalpha, text := raw.decode("utf-8", "replace")))]

    def _routine(self, source: int) -> Routine | None:
        routine = self._routines.get(source)
        if routine is None and source in self._tails:
            routine = self._routines[source] = Routine(self._tails[source], self._sources[source])
        return routine

    def split(self, source: int, text: str) -> tuple[Prefix, str]:
        """What the prefixes of a line say, by all that is known of its source, and the message after them."""
        block = self._tails.get(source)
        return split(NONE if block is None else leads_of(block), text)

    def oddities(self, until: Mapping[int, int]) -> list[Finding]:
        """What single writers said out of the ordinary before trouble began, at ``until`` in each source.

        And what they count as they go and how long things took, before and after, and where they were when a stack
        was printed.
        """
        sources = self._owned
        counting, timing, paced = lines_around(self._tails, sources, until, (COUNTS, TIMES, PACED))
        return [
            *oddities(self._tails, sources, until, self._harmless),
            *counted(counting, sources),
            *durations(timing, sources, until),
            *own_pace(paced, sources),
            *stacks(self._tails, sources),
        ]

    @cached_property
    def _owned(self) -> Sequence[Source]:
        """The sources, each that is of one rank alone with it: what torch writes there names it, the program's own lines don't."""
        ranks: dict[int, set[int]] = defaultdict(set)
        for finding in self._findings:
            if finding.rank is not None:
                ranks[finding.source].add(finding.rank)
        sole = {index: next(iter(found)) for index, found in ranks.items() if len(found) == 1}
        # logs of nodes have higher ranks than there are logs
        if (
            len(sole) < max(2, len(self._sources) - 1)
            or len(sole) < len(ranks)
            or len(set(sole.values())) < len(sole)
            or max(sole.values()) >= len(self._sources)
        ):
            return self._sources
        return [
            replace(source, rank=sole[index]) if source.rank is None and index in sole else source
            for index, source in enumerate(self._sources)
        ]

    @cached_property
    def standstill(self) -> Finding | None:
        """The last line of a job that had stood still for long when its time limit ended it."""
        return stood_still(self._tails, self._sources)

    @cached_property
    def left_out(self) -> Finding | None:
        """The last line of the one writer that breaks off, where all others say that they are through."""
        return left_out(self._tails, self._sources) or dropped_out(self._tails, self._sources)

    @cached_property
    def lost(self) -> Finding | None:
        """The lines from which on a job has no numbers any more, to its end."""
        return lost(self._tails, self._sources)

    @cached_property
    def not_finite(self) -> Finding | None:
        """The line of the one rank whose numbers ceased to be finite before those of all others."""
        return first_not_finite(self._tails, self._owned)

    @cached_property
    def waiting(self) -> Finding | None:
        """The lines in which somebody waits, to the end of a log."""
        return waiting(self._tails, self._sources)

    @cached_property
    def retrying(self) -> Finding | None:
        """The lines in which something is tried again and again, to the end of a log."""
        return retrying(self._tails, self._sources)

    @cached_property
    def nothing_done(self) -> Finding | None:
        """The tally at an end that counts nothing, and what was complained of before it."""
        return nothing_done(self._tails, self._sources)

    @cached_property
    def unwritten(self) -> Finding | None:
        """The line in which it is said of what a run was for that it did not come where it belongs."""
        return unwritten(self._tails, self._sources)

    @cached_property
    def unfinished(self) -> Finding | None:
        """What tells of work that nobody says has failed, and that never came to its end."""
        return unfinished(self._tails, self._sources)

    @cached_property
    def mentioned(self) -> Finding | None:
        """The exception that is the last thing a program's logger says, in whatever tone."""
        return mentioned(self._tails, self._sources)

    @cached_property
    def given_up(self) -> Finding | None:
        """The last words of a log that say that its program leaves its work undone."""
        return given_up(self._tails, self._sources, self._taken)

    @cached_property
    def in_concert(self) -> Finding | None:
        """The last words of a job whose writers all ended in the same ones, which say that they are through."""
        return in_concert(self._tails, self._sources)

    def chorus(self, known: Lines = ()) -> list[Finding]:
        """The last words of those that waited for another in vain or lost it, where most of a job's writers end so.

        Args:
            known: lines that rules know for such: then it is the last words of the few others.
        """
        messages = {
            without_digits(self.split(index, line)[1])
            for index, shown in known
            for line in shown.text.splitlines()
        }
        found = chorus(self._tails, self._sources, messages)
        return [f for f in found if f.rule_id == SOLO] if known else found

    @cached_property
    def around(self) -> Around:
        """What stands around any of the lines at the ends of the logs."""
        return Around(self._tails, self._sources, lambda: self._harmless)

    @cached_property
    def selves(self) -> Selves:
        """What the writers of each log say of themselves, by source and name; an empty name is all of it."""
        return selves(self._tails, self._sources)

    def went_on(self, source: int, offset: int) -> frozenset[int]:
        """The ranks that say something of their own in a source behind ``offset``."""
        block = self._tails.get(source)
        return frozenset() if block is None else went_on(block, self._sources[source], source, offset)

    def _unknown(
        self,
        pick: Callable[[Block, str, Container[int]], Iterator[Evidence]],
        tails: Mapping[int, Block] | None = None,
    ) -> Lines:
        taken = self._taken
        known = {_wording(words) for words in self._harmless | self._repeated}
        return [
            (index, evidence)
            for index, block in sorted((self._tails if tails is None else tails).items())
            for evidence in pick(
                block, self._sources[index].name, taken.get(self._sources[index].name, frozenset())
            )
            if _wording(evidence.text) not in known and not self._claimed(evidence.text)
        ]

    def _claimed(self, text: str) -> bool:
        """Whether a rule that found lines harmless knows this one too: few lines are kept of what was folded."""
        for pattern in self._benign:
            try:
                if pattern.search(text, timeout=PATTERN_TIMEOUT, concurrent=False) is not None:
                    return True
            except TimeoutError:
                continue
        return False

    @cached_property
    def _benign(self) -> list[regex.Pattern[str]]:
        found = {finding.rule_id for finding in self._findings if finding.count > 2}
        known = [rule for rule_id in sorted(found) if (rule := self._rules.get(rule_id)) is not None]
        return [
            compile_pattern(pattern)
            for rule in known
            if rule.role == "benign" and rule.signature is not None and rule.signature.where is None
            for pattern in rule.signature.patterns
        ]

    @cached_property
    def _repeated(self) -> set[str]:
        """The words of recognised lines of which only the first and the last are at hand."""
        return {
            without_digits(line)
            for finding in self._findings
            if finding.count > 2
            and (rule := self._rules.get(finding.rule_id)) is not None
            and rule.fact != "mention"
            for evidence in finding.evidence
            if not (rule.fact in _IN_PASSING and _of_trouble(evidence.text))
            for line in evidence.text.splitlines()
        }

    @cached_property
    def _taken(self) -> dict[str, set[int]]:
        """The numbers of the recognised lines by the names of sources."""
        taken: dict[str, set[int]] = {}
        for evidence in self._recognised():
            if evidence.line is not None:
                end = evidence.line + len(evidence.text.splitlines())
                taken.setdefault(evidence.path, set()).update(range(evidence.line, end))
        return taken

    @cached_property
    def _harmless(self) -> set[str]:
        """The words of harmless lines: repetitions were folded, and are known by them."""
        found = self._recognised(benign=True)
        return {without_digits(line) for evidence in found for line in evidence.text.splitlines()}

    def _recognised(self, *, benign: bool = False) -> Iterator[Evidence]:
        """The recognised lines, or only the ``benign`` ones; of the others above the ends nobody asks."""
        first: dict[str, int] = {}
        for index, block in self._tails.items():
            name = self._sources[index].name
            first[name] = min(block.line, first.get(name, block.line))
        for finding in self._findings:
            known = self._rules.get(finding.rule_id)
            harmful = known is None or known.role != "benign"
            if benign and harmful:
                continue
            if known is not None and known.fact == "mention":
                continue  # it says that an exception is named, and knows nothing about it
            in_passing = known is not None and known.fact in _IN_PASSING
            for evidence in finding.evidence:
                end = (evidence.line or 0) + len(evidence.text.splitlines())
                if harmful and end <= first.get(evidence.path, 0):
                    continue
                if in_passing and _of_trouble(evidence.text):
                    continue  # what the line is there to say, nobody knows
                yield evidence


def _cut(block: Block, offset: int) -> Block | None:
    """The last lines of ``block`` that end before ``offset``, None where it has none."""
    end = offset - block.offset
    if not 0 < end <= len(block.data):
        return None
    begin = end
    for _ in range(_BEFORE):
        begin = block.data.rfind(b"\n", 0, max(begin - 1, 0)) + 1
    line = block.line + block.data.count(b"\n", 0, begin)
    return replace(
        block, data=block.data[begin:end], offset=block.offset + begin, line=line, begin=0, end=end - begin
    )


_IN_PASSING = frozenset(["env", "identity", "job", "launch", "layout", "progress", "version", "world-size"])
"""Facts that an error may mention too: a launcher that did not come up, the command that it failed to run."""
_GRAVE = frozenset(["error", "fatal"])
_BEFORE = 12
"""Lines before the first sign of trouble among which its reason may stand."""


def _of_trouble(text: str) -> bool:
    """Whether a line speaks of trouble, or is logged as such."""
    return split_line(text)[0].level in _GRAVE or speaks_of_trouble(text)


def _wording(line: str) -> str:
    """A line without its numbers and addresses."""
    return without_digits(compiled(_ADDRESS).sub("", line))


_ADDRESS = r"\b(?:0)?x[0-9a-f]{2,16}\b"
"""In full, and as it is left of one without its digits."""
