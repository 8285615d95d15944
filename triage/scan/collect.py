"""Folding: equal findings become one with a count, so that a flood costs no memory."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from triage.model import Block, Evidence, Finding, Prefix, Source, Value
from triage.text import safe_span

MAX_DISTINCT = 512
"""Different findings of one rule in one source; more are folded into the last one of their rank."""


@dataclass(slots=True, eq=False, repr=False)
class Sighting:
    """One match before it is folded."""

    rule_id: str
    fields: Mapping[str, Value]
    prefix: Prefix
    offset: int
    line: int
    text: str
    span: tuple[int, int] | None
    raised: bool = False
    sampled: bool = False


@dataclass(slots=True, eq=False, repr=False)
class _Fold:
    """Sightings that are one finding: the first of them, the last, how many."""

    first: Sighting
    last: Sighting
    count: int = 1
    sampled: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Collector:
    """Folds the sightings of one source."""

    source: Source
    index: int
    lines: int = 0
    """Lines of the source, an unfinished last one included."""
    tail: Block | None = None
    """The last block of the source."""
    _headings: list[tuple[int, str]] = field(default_factory=list)
    """Where each of several files begins that one stream shows, and its name."""
    _folds: dict[tuple[object, ...], _Fold] = field(default_factory=dict)
    _distinct: dict[str, int] = field(default_factory=dict)
    _overflow: dict[tuple[str, int | None], tuple[object, ...]] = field(default_factory=dict)

    def add(self, sighting: Sighting) -> None:
        """Fold one sighting in."""
        self._fold(_Fold(sighting, sighting, sampled=sighting.sampled))

    def heading(self, offset: int, name: str) -> None:
        """Note that what follows is from a file of that name: what several files say alike is not one finding."""
        insort(self._headings, (offset, name))

    def _part(self, offset: int) -> str:
        """The name of the file in the stream that has what stands at ``offset``."""
        at = bisect_right(self._headings, offset, key=lambda heading: heading[0])
        return self._headings[at - 1][1] if at else ""

    def _fold(self, new: _Fold) -> None:
        key = (self._part(new.first.offset), *_identity(new.first))
        fold = self._folds.get(key)
        sampled = new.sampled
        if fold is None:
            rule_id = new.first.rule_id
            rank_key = (rule_id, new.first.prefix.rank)
            if self._distinct.get(rule_id, 0) < MAX_DISTINCT or rank_key not in self._overflow:
                self._distinct[rule_id] = self._distinct.get(rule_id, 0) + 1
                self._folds[key] = new
                self._overflow[rank_key] = key
                return
            fold = self._folds[self._overflow[rank_key]]
            sampled = True
        fold.last = new.last
        fold.count += new.count
        fold.sampled = fold.sampled or sampled

    def more(self, rule_id: str, count: int) -> None:
        """Count hits that were not looked at one by one, for the rule's latest finding."""
        for fold in reversed(list(self._folds.values())):
            if fold.first.rule_id == rule_id:
                fold.count += count
                fold.sampled = True
                return

    def extend(self, later: Collector) -> None:
        """Fold in what was collected from the next stretch of the same source."""
        self._headings += later._headings
        for fold in later._folds.values():
            first, last = (replace(seen, line=seen.line + self.lines) for seen in (fold.first, fold.last))
            self._fold(_Fold(first, first if fold.first is fold.last else last, fold.count, fold.sampled))
        if later.tail is not None:
            self.tail = replace(later.tail, line=later.tail.line + self.lines)
        self.lines += later.lines

    def findings(self) -> tuple[Finding, ...]:
        """The folded findings in order of first appearance."""
        return tuple(self._finding(fold) for fold in self._folds.values())

    def _finding(self, fold: _Fold) -> Finding:
        first, last = fold.first, fold.last
        evidence = [self._evidence(first)]
        if last is not first:
            evidence.append(self._evidence(last))
        prefix, source = first.prefix, self.source
        return Finding(
            rule_id=first.rule_id,
            fields=first.fields,
            evidence=tuple(evidence),
            source=self.index,
            offset=first.offset,
            rank=prefix.rank if prefix.rank is not None else source.rank,
            local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
            host=prefix.host or source.host,
            gpu=prefix.gpu,
            pid=prefix.pid,
            time=prefix.time,
            level=prefix.level,
            stream=prefix.stream,
            raised=first.raised,
            count=fold.count,
            sampled=fold.sampled,
            last_offset=last.offset,
            last_time=last.prefix.time,
            labels=prefix.labels,
        )

    def _evidence(self, sighting: Sighting) -> Evidence:
        text, span = safe_span(sighting.text, sighting.span)
        fields = {k: v for k, v in sighting.fields.items() if k[0] != "_"}
        return Evidence(self.source.name, sighting.line, text, fields, span)


def _identity(sighting: Sighting) -> tuple[object, ...]:
    """What makes two sightings the same finding."""
    prefix = sighting.prefix
    return (
        sighting.rule_id, prefix.rank, prefix.local_rank, prefix.host, prefix.stream,
        sighting.raised,
        # fields with an underscore say where, not what
        *sorted((k, v) for k, v in sighting.fields.items() if v is not None and k[0] != "_"),
    )  # fmt: skip
