"""The pass over the bytes: blocks in, folded findings out.

Blocks of all sources go through one pipeline: worker threads run Hyperscan, which releases the GIL,
while this thread turns the hits of earlier blocks into findings, in order. What is sampled in a
block depends only on blocks that lie a fixed distance before it, so the result is the same for any
number of threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triage.model import Block, Source
from triage.rules.loader import RuleSet
from triage.rules.schema import Rule
from triage.scan.collect import Collector, Sighting
from triage.scan.database import AnchorDatabase, looks_wrapped
from triage.scan.exceptions import EXCEPTION_ANCHORS, ExceptionScan
from triage.scan.matching import Match, Matcher
from triage.scan.window import BlockLines, Record, record_at

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

THREADS = 2
DEPTH = 4
"""Blocks in flight; sampling decisions lag by as many."""
MAX_DATABASES = 32
"""Compiled databases that are kept; which anchors are sampled depends on what floods a log."""
SAMPLE_EVERY = 64
"""Between the ends of a source, facts that many lines carry are looked for in one block of so many."""
BLOCK_BUDGET = 1024
FREQUENT_BUDGET = (8, 40)
"""Hits of a frequent anchor that are looked at in one block: the first few and the last."""
LOOK = 32 * 1024
"""Bytes at both ends of a source in which lines are looked at for wrapping."""
SOURCE_BUDGET = 4096
"""Hits of one anchor that are looked at one by one; beyond, one a block."""

_Hits = list[tuple[int, int]]
_Scanned = tuple[_Hits, int]
"""The hits in a block, and the number of lines that end in its region."""


@dataclass(slots=True)
class _Stream:
    """The scan state of one source."""

    collector: Collector
    seen: dict[int, int] = field(default_factory=dict)
    hot: frozenset[int] = frozenset()
    exceptions: ExceptionScan = field(default_factory=ExceptionScan)
    wrapped: bool = False
    blocks: int = 0


@dataclass(slots=True)
class _Pending:
    """A block on its way through the pipeline."""

    stream: _Stream
    block: Block
    sampled: frozenset[int]
    outcome: Future[_Scanned] | _Scanned


@dataclass(slots=True)
class _Claim:
    """A rule that matched somewhere, with the bytes of the block that its match covers."""

    rule: Rule
    match: Match
    record: Record
    begin: int
    end: int


class Scanner:
    """All rules, compiled for scanning. Safe to use from several threads at once."""

    def __init__(self, rules: RuleSet, threads: int = THREADS) -> None:
        self._rules = rules
        self._threads = threads
        self._anchors: dict[int, str] = {}
        self._rule_ids: dict[int, tuple[str, ...]] = {}
        self._frequent: set[int] = set()
        for number, (literal, (ids, frequent)) in enumerate(sorted(rules.anchors().items())):
            self._anchors[number] = literal
            self._rule_ids[number] = ids
            if frequent:
                self._frequent.add(number)
        base = len(self._anchors)
        self._exception_ids = {base + i for i in range(len(EXCEPTION_ANCHORS))}
        self._anchors.update({base + i: text for i, text in enumerate(EXCEPTION_ANCHORS)})
        self._databases: dict[tuple[frozenset[int], bool, bool], AnchorDatabase] = {}
        self._matchers: dict[str, Matcher] = {}
        self._lock = threading.Lock()

    def scan(
        self,
        blocks: Iterable[tuple[int, Source, Block]],
        progress: Callable[[int], None] | None = None,
    ) -> dict[int, Collector]:
        """Findings by source index.

        Args:
            blocks: ``(source index, source, block)``, the blocks of one source in order.
            progress: called with the number of bytes of each block when it is done.
        """
        streams: dict[int, _Stream] = {}
        pending: deque[_Pending] = deque()
        pool: ThreadPoolExecutor | None = None
        try:
            for index, source, block in blocks:
                stream = streams.get(index)
                if stream is None:
                    stream = streams[index] = _Stream(Collector(source, index))
                ends = block.offset == 0 or block.last
                if ends:
                    look = block.data[:LOOK] + block.data[-LOOK:]
                    stream.wrapped = stream.wrapped or looks_wrapped(look)
                stream.blocks += 1
                idle = not ends and stream.blocks % SAMPLE_EVERY != 0
                sampled = stream.hot
                database = self._database(sampled, stream.wrapped, idle)
                if pool is None and not pending and block.last and block.offset == 0:
                    # one small source: no need for threads
                    pending.append(_Pending(stream, block, sampled, _scan(database, block)))
                else:
                    pool = pool or self._pool()
                    pending.append(_Pending(stream, block, sampled, pool.submit(_scan, database, block)))
                if len(pending) >= DEPTH:
                    self._finish(pending.popleft(), progress)
            while pending:
                self._finish(pending.popleft(), progress)
        finally:
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)
        return {index: stream.collector for index, stream in streams.items()}

    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # imports logging: only for large inputs

        return ThreadPoolExecutor(self._threads, "triage-scan")

    def _database(self, sampled: frozenset[int], wrapped: bool, idle: bool = False) -> AnchorDatabase:
        """The database for a block: ``idle`` leaves out the facts that many lines carry."""
        key = (sampled, wrapped, idle)
        with self._lock:
            database = self._databases.get(key)
            if database is None:
                if len(self._databases) >= MAX_DATABASES:  # floods are of many kinds in a long-lived service
                    del self._databases[next(iter(self._databases))]
                anchors = {n: a for n, a in self._anchors.items() if not (idle and n in self._frequent)}
                database = self._databases[key] = AnchorDatabase(anchors, sampled, wrapped=wrapped)
        return database

    def _finish(self, entry: _Pending, progress: Callable[[int], None] | None) -> None:
        outcome = entry.outcome
        hits, newlines = outcome if isinstance(outcome, tuple) else outcome.result()
        collector, block = entry.stream.collector, entry.block
        if hits or block.last:
            # number from where the region begins: what lies before it has been counted
            line = 1 + collector.lines - block.data.count(b"\n", 0, block.begin)
            entry.block = replace(block, line=line)
        if hits:
            self._process(entry, hits)
        collector.lines += newlines
        if block.last:
            collector.lines += not block.data.endswith(b"\n")
            collector.tail = entry.block
        if progress is not None:
            progress(entry.block.end - entry.block.begin)

    def _process(self, entry: _Pending, hits: _Hits) -> None:
        stream, block = entry.stream, entry.block
        view = BlockLines(block)
        claims: list[_Claim] = []
        done: set[tuple[str, int]] = set()
        for end, anchor in self._within_budget(entry, hits):
            line = view.line_at(end - 1)
            if anchor in self._exception_ids:
                stream.exceptions.visit(view, line, stream.collector)
                continue
            for rule_id in self._rule_ids[anchor]:
                if (rule_id, line.start) in done:
                    continue
                done.add((rule_id, line.start))
                claim = self._claim(rule_id, view, line.start, end)
                if claim is not None:
                    claims.append(claim)
        for claim in _undisputed(claims):
            self._add(stream, view, claim)

    def _within_budget(self, entry: _Pending, hits: _Hits) -> Iterator[tuple[int, int]]:
        """The hits of this block's own region, floods cut down to their beginning and end."""
        stream, block = entry.stream, entry.block
        by_anchor: dict[int, list[int]] = {}
        for end, anchor in hits:
            # the last region may be short, so progress is read from its context as well; a sampled
            # anchor's one hit may lie in the context, and is as good as any
            anywhere = anchor in entry.sampled or (block.last and anchor in self._frequent)
            if block.begin < end <= block.end or anywhere:
                by_anchor.setdefault(anchor, []).append(end)
        kept: list[tuple[int, int]] = []
        hot = set(stream.hot)
        for anchor, ends in by_anchor.items():
            first, last = (
                FREQUENT_BUDGET if anchor in self._frequent else (BLOCK_BUDGET // 2, BLOCK_BUDGET // 2)
            )
            total = stream.seen.get(anchor, 0) + len(ends)
            stream.seen[anchor] = total
            if total > SOURCE_BUDGET and anchor not in self._frequent:
                hot.add(anchor)
            if len(ends) > first + last:
                for rule_id in self._rule_ids.get(anchor, ()):
                    stream.collector.more(rule_id, len(ends) - first - last)
                ends = ends[:first] + ends[-last:]
            kept.extend((end, anchor) for end in ends)
        stream.hot = frozenset(hot)
        kept.sort()
        return iter(kept)

    def _claim(self, rule_id: str, view: BlockLines, start: int, end: int) -> _Claim | None:
        matcher = self._matchers.get(rule_id)
        if matcher is None:
            matcher = self._matchers[rule_id] = Matcher(self._rules[rule_id])
        signature = matcher.signature
        # an anchor that wraps ends on a later line than its pattern starts on
        record = record_at(
            view, view.line_at(end - 1), before=max(signature.before, 1), after=signature.lines
        )
        match = matcher.match(record)
        if match is None:
            return None
        first, last = record.line_of(match.start), record.line_of(max(match.start, match.end - 1))
        return _Claim(matcher.rule, match, record, record.lines[first].start, record.lines[last].end)

    def _add(self, stream: _Stream, view: BlockLines, claim: _Claim) -> None:
        record, match = claim.record, claim.match
        first = record.line_of(match.start)
        last = record.line_of(max(match.start, match.end - 1))
        covered = record.lines[first : last + 1]
        text = "\n".join(line.raw for line in covered)
        line = record.lines[first]
        offset = view.block.offset + line.start
        header = stream.exceptions.header(offset, line.prefix)
        prefix = line.prefix
        if header is not None and prefix.rank is None and not prefix.stamped:
            prefix = header
        decisive = record.text[match.start : match.end].split("\n", 1)[0]
        at = text.find(decisive) if decisive else -1
        stream.collector.add(
            Sighting(
                rule_id=claim.rule.id,
                fields=match.fields,
                prefix=prefix,
                offset=offset,
                line=view.number(line.start),
                text=text,
                span=(at, at + len(decisive)) if at >= 0 else None,
                raised=header is not None,
            )
        )


def _scan(database: AnchorDatabase, block: Block) -> _Scanned:
    """What a worker thread does with a block."""
    return database.scan(block.data), block.data.count(b"\n", block.begin, block.end)


def _undisputed(claims: list[_Claim]) -> Iterator[_Claim]:
    """What is left when benign rules and refinements have taken the lines they know better."""
    benign = [c for c in claims if c.rule.role == "benign"]
    refined = [(c, frozenset(c.rule.refines)) for c in claims if c.rule.refines]
    for claim in claims:
        if claim.rule.role in {"cause", "symptom"} and any(_overlap(claim, b) for b in benign):
            continue
        if claim.rule.stack == "unknown" and any(
            o.rule.stack != "unknown" and o.rule.role in {"cause", "symptom"} and _overlap(claim, o)
            for o in claims
        ):
            continue  # words are the last resort
        if any(claim.rule.id in ids and _overlap(claim, c) for c, ids in refined if c is not claim):
            continue
        yield claim


def _overlap(one: _Claim, other: _Claim) -> bool:
    return one.begin < other.end and other.begin < one.end
