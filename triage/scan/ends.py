"""What the ends of a job's logs say in lines that no rule has recognised."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from triage.model import Block, Evidence, Finding, Source
from triage.rules.loader import RuleSet
from triage.scan.counted import counted
from triage.scan.lazy import compiled
from triage.scan.oddities import oddities
from triage.scan.said import self_named, without_digits
from triage.scan.stacks import stacks
from triage.scan.tail import alarms, last_words

Lines = Sequence[tuple[int, Evidence]]
"""Lines with the indices of their sources."""


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

    @cached_property
    def last_words(self) -> Lines:
        """The last lines that state an error in so many words."""
        return self._unknown(last_words)

    @cached_property
    def alarms(self) -> Lines:
        """The last lines with alarming words in them."""
        return self._unknown(alarms)

    def oddities(self, until: Mapping[int, int]) -> list[Finding]:
        """What single writers said out of the ordinary before trouble began, at ``until`` in each source.

        And what they count as they go, before and after, and where they were when a stack was printed.
        """
        return [
            *oddities(self._tails, self._sources, until, self._recognised[1]),
            *counted(self._tails, self._sources, until),
            *stacks(self._tails, self._sources),
        ]

    def self_named(self) -> dict[int, set[int]]:
        """By the index of each log the ranks that its lines give as their own."""
        return {
            index: set(self_named(block, self._sources[index], index))
            for index, block in sorted(self._tails.items())
            if self._sources[index].rank is None
        }

    def _unknown(self, pick: Callable[[Block, str, Container[int]], Iterator[Evidence]]) -> Lines:
        taken, harmless = self._recognised
        known = {_wording(words) for words in harmless | self._repeated}
        return [
            (index, evidence)
            for index, block in sorted(self._tails.items())
            for evidence in pick(
                block, self._sources[index].name, taken.get(self._sources[index].name, frozenset())
            )
            if _wording(evidence.text) not in known
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
            for line in evidence.text.splitlines()
        }

    @cached_property
    def _recognised(self) -> tuple[dict[str, set[int]], set[str]]:
        """The recognised lines by the names of sources, and the words of the harmless ones."""
        taken: dict[str, set[int]] = {}
        harmless: set[str] = set()
        for finding in self._findings:
            known = self._rules.get(finding.rule_id)
            if known is not None and known.fact == "mention":
                continue  # it says that an exception is named, and knows nothing about it
            for evidence in finding.evidence:
                lines = evidence.text.splitlines()
                if evidence.line is not None:
                    taken.setdefault(evidence.path, set()).update(
                        range(evidence.line, evidence.line + len(lines))
                    )
                if known is not None and known.role == "benign":
                    # repetitions were folded: know them by their words
                    harmless.update(without_digits(line) for line in lines)
        return taken, harmless


def _wording(line: str) -> str:
    """A line without its numbers and addresses."""
    return without_digits(compiled(_ADDRESS).sub("", line))


_ADDRESS = r"\b(?:0)?x[0-9a-f]{2,16}\b"
"""In full, and as it is left of one without its digits."""
