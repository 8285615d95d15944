"""Everything that is known about one job (or one attempt of it), indexed for the stages that judge.

``Item`` pairs a finding with its rule. Order between items is a partial one: within a source by
position, between sources by time where their clocks can be compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from triage.model import Evidence, Finding, Moment, Prefix, Source, SourceReport, Value
from triage.rules.loader import RuleSet
from triage.rules.schema import Rule
from triage.scan.ordinary.routine import How
from triage.scan.prefix import split_line

TROUBLE = ("collective-timeout", "store-timeout", "peer-loss")
"""Tags of what ranks print when others did not come, or went away."""


Began = Callable[[int, int], Evidence | None]
Resumed = Callable[[int, str, int, How], Evidence | None]


class Item(NamedTuple):
    """A finding with the rule that it belongs to."""

    finding: Finding
    rule: Rule

    @property
    def fields(self) -> Mapping[str, Value]:
        """The captured fields."""
        return self.finding.fields

    @property
    def rank(self) -> int | None:
        """The global rank of the writer, where the line or the file name tells it."""
        return self.finding.rank

    @property
    def at_last(self) -> Finding:
        """The finding where it was seen last: equal ones are folded and stand where the first was."""
        shown = self.finding
        if shown.last_offset is None:
            return shown
        return replace(shown, offset=shown.last_offset, time=shown.last_time)

    @property
    def reader(self) -> str | None:
        """What else than the words of a line it was read or concluded from."""
        return None if self.rule.signature is None else self.rule.signature.reader

    @property
    def concluded(self) -> bool:
        """Whether ranks were compared to conclude it."""
        return self.reader == "ledger"

    @property
    def about_a_rank(self) -> bool:
        """Whether it was concluded about a rank, rather than said by it."""
        return self.concluded or self.reader == "flight-recorder"

    def number(self, name: str) -> int | None:
        """A field that must be an int to be used."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def seconds(self, name: str) -> float | None:
        """A field that must be a number to be used."""
        value = self.fields.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def text(self, name: str) -> str | None:
        """A field as text."""
        value = self.fields.get(name)
        return None if value is None else str(value)

    def ranks(self, name: str) -> tuple[int, ...]:
        """A field that holds one rank or several."""
        value = self.fields.get(name)
        if isinstance(value, tuple):
            return tuple(v for v in value if isinstance(v, int))
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else ()


@dataclass(slots=True, eq=False, repr=False)
class Job:
    """The findings of one job or attempt and what they say about it as a whole."""

    rules: RuleSet
    items: list[Item]
    sources: Sequence[Source]
    reports: Sequence[SourceReport]
    receipt: Mapping[str, Any] | None = None
    cut: bool = False
    """True when some input was not read to its end, so that absence proves nothing."""
    notes: list[str] = field(default_factory=list)
    began: Began | None = None
    """Tells by source and line whether work is counted from after that line to the end of the log."""
    afresh: Callable[[int, int, str], Evidence | None] | None = None
    """Tells the same by source, line and who died there, where somebody says below the line that it is tried again."""
    opens: Callable[[int, int], bool] | None = None
    """Tells by source and line whether nothing ordinary stands above that line."""
    said: Callable[[int, int, int], Sequence[str]] | None = None
    """Tells by source what its lines between two say."""
    resumed: Resumed | None = None
    """Tells by source, stream, line and how it was said there whether a writer goes on."""
    split: Callable[[int, str], tuple[Prefix, str]] | None = None
    """What the prefixes of a line of a source say, those of its own too that only all its lines together show."""
    _by_rule: dict[str, list[Item]] = field(default_factory=dict)
    _by_tag: dict[str, list[Item]] = field(default_factory=dict)
    _by_fact: dict[str, list[Item]] = field(default_factory=dict)
    _environment: dict[str, str] | None = None

    def __post_init__(self) -> None:
        self.index()

    def lines_below(self, finding: Finding) -> int | None:
        """How many lines its source has below what is shown of a finding last; None where that is not known."""
        shown = finding.evidence[-1] if finding.evidence else None
        lines = self.reports[finding.source].lines if finding.source < len(self.reports) else None
        if shown is None or shown.line is None or lines is None:
            return None
        above = self.sources[finding.source].above
        return max(0, above + lines - shown.line - shown.text.count("\n"))

    def index(self) -> None:
        """Sort the items and rebuild the lookups after ``items`` changed."""
        self.items.sort(key=lambda i: (i.finding.source, i.finding.offset, i.rule.id))
        by_rule: dict[str, list[Item]] = defaultdict(list)
        by_tag: dict[str, list[Item]] = defaultdict(list)
        by_fact: dict[str, list[Item]] = defaultdict(list)
        for item in self.items:
            by_rule[item.rule.id].append(item)
            for tag in item.rule.tags:
                by_tag[tag].append(item)
            if item.rule.fact:
                by_fact[item.rule.fact].append(item)
        self._environment = None
        self._by_rule, self._by_tag, self._by_fact = dict(by_rule), dict(by_tag), dict(by_fact)

    def of_rule(self, rule_id: str) -> Sequence[Item]:
        """Items of one rule."""
        return self._by_rule.get(rule_id, ())

    def of_tag(self, tag: str) -> Sequence[Item]:
        """Items of every rule that carries ``tag``."""
        return self._by_tag.get(tag, ())

    def source_of(self, finding: Finding) -> Source | None:
        """The source that a finding stands in; None where it is of a receipt, or worked out of others."""
        return self.sources[finding.source] if 0 <= finding.source < len(self.sources) else None

    def parts(self, source: int, text: str) -> tuple[Prefix, str]:
        """What stands before a line and what it says, by all that is known of its log."""
        return split_line(text) if self.split is None else self.split(source, text)

    def of_fact(self, fact: str) -> Sequence[Item]:
        """Items of every rule with this ``fact``."""
        return self._by_fact.get(fact, ())

    def named(self, name: str) -> Sequence[Item]:
        """Items of a rule id or a ``tag:…``, as ``explains`` and ``seen`` name them."""
        return self.of_tag(name[4:]) if name.startswith("tag:") else self.of_rule(name)

    def facts(self, fact: str, name: str) -> Iterator[Value]:
        """The known values of one field of a fact."""
        return (v for i in self.of_fact(fact) if (v := i.fields.get(name)) is not None)

    def add(self, items: Iterable[Item]) -> None:
        """Take in items that a later stage derived."""
        self.items.extend(items)
        self.index()

    def exchange(self, told: Mapping[int, Item]) -> None:
        """Put other items in the place of those whose ids are given."""
        if told:
            self.items = [told.get(id(item), item) for item in self.items]
            self.index()

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables that the logs, dumps or the receipt state; the first one wins."""
        if self._environment is not None:
            return self._environment
        found: dict[str, str] = {}
        if self.receipt is not None and isinstance(self.receipt.get("env"), Mapping):
            found.update({str(k): str(v) for k, v in self.receipt["env"].items() if v is not None})
        for item in self.of_fact("env"):
            name = item.text("name")
            if name:
                found.setdefault(name, item.text("value") or "")
        self._environment = found
        return found

    def version(self, name: str) -> tuple[int, ...] | None:
        """The version of a component, where something states it."""
        for value in self.facts("version", name):
            if isinstance(value, tuple):
                return tuple(v for v in value if isinstance(v, int))
        versions = self.receipt.get("versions") if self.receipt is not None else None
        stated = versions.get(name) if isinstance(versions, Mapping) else None
        found = re.match(r"\d+(?:\.\d+){0,3}", str(stated)) if stated is not None else None
        return tuple(int(part) for part in found[0].split(".")) if found else None

    def uses(self, word: str) -> bool:
        """Whether the receipt's command, lane or settings name ``word`` (a library, a strategy)."""
        if self.receipt is None:
            return False
        launch = self.receipt.get("launch")
        told = [*(launch.get("argv") or ()), self.receipt.get("lane")] if isinstance(launch, Mapping) else []
        told += [f"{k}={v}" for k, v in self.environment.items() if v.lower() not in {"", "0", "false", "no"}]
        wanted = re.compile(rf"(?<![a-z0-9]){re.escape(word.lower())}(?![a-z])")
        return any(wanted.search(str(text).lower().replace("_", "-")) for text in told if text)


APART = 1.0
"""Seconds by which two moments must differ to be in order: ranks buffer what they write."""


def compare(one: Finding, other: Finding) -> int | None:
    """-1 when ``one`` came first, 1 when ``other`` did, 0 for the same place, None when unknown.

    Times decide where both are on one clock and differ by a second or more (ranks buffer their
    output, so a merged file is not in order of time); else positions order one source, unless the
    two lines come from clocks of different kinds: a kernel log is often pasted behind a job log.
    """
    if one.time is not None and other.time is not None:
        if comparable(one.time, other.time):
            gap = one.time.seconds - other.time.seconds
            if abs(gap) >= APART:
                return 1 if gap > 0 else -1
        elif one.time.clock != other.time.clock:
            return None
    if one.source == other.source:
        return (one.offset > other.offset) - (one.offset < other.offset)
    return None


def comparable(one: Moment, other: Moment) -> bool:
    """Whether two moments are on clocks that can be compared."""
    return one.clock == other.clock and one.zoned == other.zoned
