"""The pass over the bytes: blocks in, folded findings out.

The blocks of a source go through a pipeline: worker threads run Hyperscan, which releases the GIL,
while this thread turns the hits of earlier blocks into findings, in order. What is sampled in a
block depends only on blocks that lie a fixed distance before it, so the result is the same for any
number of threads.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from triage.model import Block, Leads, Source, Value
from triage.rules.loader import RuleSet
from triage.rules.schema import Rule
from triage.scan.collect import Collector, Sighting
from triage.scan.database import AnchorDatabase, Hits, looks_wrapped
from triage.scan.exceptions import EXCEPTION_ANCHORS, ExceptionScan
from triage.scan.matching import Match, Matcher
from triage.scan.openings import OPENS, Openings
from triage.scan.prefix import split_line
from triage.scan.whose import explained
from triage.scan.window import BRIEF, CONTINUATION, BlockLines, Line, Record, record_at
from triage.scan.writers.leads import NONE, learn
from triage.sources.constants import BLOCK_SIZE, TAIL_SIZE

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

THREADS = 4
"""Threads beyond which scanning waits for what the interpreter does with its results."""
DEPTH = 2 * THREADS
"""Blocks in flight; sampling decisions lag by as many."""
MAX_DATABASES = 32
"""Compiled databases that are kept; which anchors are sampled depends on what floods a log."""
SAMPLE_EVERY = 128
"""Between the ends of a source, facts that many lines carry are looked for in one block of so many."""
EDGE = 64 * 1024
"""Bytes in which they are looked for: at the ends of a source, and at the beginning of such a block."""
BLOCK_BUDGET = 1024
FREQUENT_BUDGET = (4, 20)
"""Hits of a frequent anchor that are looked at in the last block: the first few and the last."""
PASSING_BUDGET = (4, 4)
"""The same for other blocks: what moved then matters less than what moved last."""
LOOK = 32 * 1024
"""Bytes at both ends of a source in which lines are looked at for wrapping."""
SOURCE_BUDGET = 4096
"""Hits of one anchor that are looked at one by one; beyond, one a block."""
STRETCH = 16
"""Where a source is scanned in stretches, each has this part of the budgets."""
MESSAGE_AFTER = 4096
"""Bytes between a quoted ``raise`` and the exception's own line."""
OFTEN = 32
"""Hits of a rule in one block from which on it pays to see whether any of them can be one of its messages."""
MISS_BUDGET = 4096
"""Times that a window is found in vain before its anchors are looked for themselves."""

_Scanned = tuple[Hits, dict[str, int], int]
"""The hits in a block, the windows found in vain, and the number of lines that end in its region."""


@dataclass(slots=True, eq=False, repr=False)
class _Stream:
    """The scan state of one source, or of a stretch of one."""

    collector: Collector
    share: int = 1
    """By how much its budgets are smaller than a whole source's."""
    seen: dict[int, int] = field(default_factory=dict)
    hot: frozenset[int] = frozenset()
    missed: dict[str, int] = field(default_factory=dict)
    spelled: frozenset[str] = frozenset()
    exceptions: ExceptionScan = field(default_factory=ExceptionScan)
    leads: Leads = NONE
    """What the source's own launcher puts before its lines."""
    openings: Openings = field(default_factory=Openings)
    wrapped: bool = False
    blocks: int = 0


@dataclass(slots=True, eq=False, repr=False)
class _Pending:
    """A block on its way through the pipeline."""

    block: Block
    sampled: frozenset[int]
    outcome: Future[_Scanned] | _Scanned
    first: bool


FILE_HEADER = "file-header"
"""The fact of rules that know what stands above each of several files in one stream."""


@dataclass(slots=True, eq=False, repr=False)
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
        anchors = rules.anchors()
        self._anchors: dict[int, str] = dict(enumerate(anchors.literals))
        self._wanted_by = anchors.rules
        self._windows = dict(zip(anchors.literals, anchors.windows, strict=True))
        self._frequent = anchors.sampled
        base = len(self._anchors)
        self._exception_ids = {base + i for i in range(len(EXCEPTION_ANCHORS))}
        self._anchors.update({base + i: text.lower() for i, text in enumerate(EXCEPTION_ANCHORS)})
        self._databases: dict[tuple[frozenset[int], frozenset[str], bool], AnchorDatabase] = {}
        self._frequent_databases: dict[bool, AnchorDatabase] = {}
        self._matchers: dict[str, Matcher] = {}
        self._headings: dict[int, list[str]] = {}
        """What of each anchor that was met tells where a file begins."""
        self._lock = threading.Lock()

    def scan(
        self,
        source: Source,
        index: int,
        blocks: Iterable[Block],
        progress: Callable[[int], None] | None = None,
        *,
        whole: bool = True,
    ) -> Collector:
        """What is found in the blocks of one source, or in a stretch of it.

        Args:
            index: what findings call the source.
            blocks: in order.
            progress: called with the number of bytes of each block when it is done.
            whole: whether the blocks are all of the source's.
        """
        stream = _Stream(Collector(source, index, source.above), 1 if whole else STRETCH)
        pending: deque[_Pending] = deque()
        pool: ThreadPoolExecutor | None = None
        try:
            for block in blocks:
                ends = block.offset == 0 or block.last
                if ends:
                    look = block.data[:LOOK] + block.data[-LOOK:]
                    stream.wrapped = stream.wrapped or looks_wrapped(look)
                sampled = stream.hot
                rare = self._database(sampled, stream.spelled, stream.wrapped)
                sample = ends or (block.offset + block.begin) // BLOCK_SIZE % SAMPLE_EVERY == 0
                frequent = self._frequent_database(stream.wrapped) if sample else None
                alone = block.last and block.offset == 0  # one small source: no need for threads
                outcome: Future[_Scanned] | _Scanned
                if self._threads == 1 or (pool is None and alone):
                    outcome = _scan(rare, frequent, block)
                else:
                    pool = pool or self._pool()
                    outcome = pool.submit(_scan, rare, frequent, block)
                pending.append(_Pending(block, sampled, outcome, stream.blocks == 0))
                stream.blocks += 1
                if len(pending) >= DEPTH:
                    self._finish(stream, pending.popleft(), progress)
            while pending:
                self._finish(stream, pending.popleft(), progress)
        finally:
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)
        return stream.collector

    def prepare(self) -> None:
        """Compile what every large input needs, so that forked processes share it."""
        self._database(frozenset(), frozenset(), False).compile()
        self._frequent_database(False).compile()

    def with_threads(self, threads: int) -> Scanner:
        """This scanner, from now on with so many threads."""
        self._threads = threads
        return self

    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # imports logging: only for large inputs

        return ThreadPoolExecutor(self._threads, "triage-scan")

    def _database(self, sampled: frozenset[int], spelled: frozenset[str], wrapped: bool) -> AnchorDatabase:
        """The anchors that are looked for everywhere."""
        key = (sampled, spelled, wrapped)
        with self._lock:
            database = self._databases.get(key)
            if database is None:
                if len(self._databases) >= MAX_DATABASES:  # floods are of many kinds in a long-lived service
                    del self._databases[next(iter(self._databases))]
                anchors = {n: a for n, a in self._anchors.items() if n not in self._frequent}
                database = self._databases[key] = AnchorDatabase(
                    anchors, self._windows, sampled, spelled, wrapped=wrapped
                )
        return database

    def _frequent_database(self, wrapped: bool) -> AnchorDatabase:
        """The anchors of facts that many lines carry."""
        with self._lock:
            database = self._frequent_databases.get(wrapped)
            if database is None:
                anchors = {n: self._anchors[n] for n in self._frequent}
                database = self._frequent_databases[wrapped] = AnchorDatabase(anchors, wrapped=wrapped)
        return database

    def _finish(self, stream: _Stream, entry: _Pending, progress: Callable[[int], None] | None) -> None:
        outcome = entry.outcome
        hits, missed, newlines = outcome if isinstance(outcome, tuple) else outcome.result()
        for window, count in missed.items():
            total = stream.missed[window] = stream.missed.get(window, 0) + count
            if total > MISS_BUDGET:
                stream.spelled |= {window}
        collector, block = stream.collector, entry.block
        ends = block.offset == 0 or block.last
        if hits or ends:
            # number from where the region begins: what lies before it has been counted
            line = 1 + collector.lines - block.data.count(b"\n", 0, block.begin)
            entry.block = replace(block, line=line)
        if hits or ends:
            self._process(stream, entry, hits)
        self._begin_again(stream, entry.block)
        collector.lines += newlines
        if block.last:
            collector.lines += not block.data.endswith(b"\n")
            collector.tail = replace(entry.block, leads=stream.leads)
        if progress is not None:
            progress(entry.block.end - entry.block.begin)

    def _begin_again(self, stream: _Stream, block: Block) -> None:
        """Note where the source begins as it began before."""
        for found in stream.openings.visit(block, 1 + stream.collector.lines):
            fields: dict[str, Value] = {"which": found.which, "at": found.offset}
            prefix = split_line(found.text)[0]
            stream.collector.add(Sighting(OPENS, fields, prefix, found.offset, found.line, found.text, None))

    def _process(self, stream: _Stream, entry: _Pending, hits: Hits) -> None:
        if entry.first or (entry.block.last and stream.leads == NONE):
            data = entry.block.data
            # of the end no more than is kept of it, so that the same is learned of both
            stream.leads = learn(data if entry.first else data[-TAIL_SIZE:])
        view = BlockLines(entry.block, stream.leads)
        if entry.first and entry.block.begin:
            # a traceback that the stretch before records may reach into this one
            for end, anchor in hits:
                if end <= entry.block.begin and anchor in self._exception_ids:
                    stream.exceptions.visit(view, view.line_at(end - 1), None)
        claims: list[_Claim] = []
        done: set[tuple[str, int]] = set()
        kept, passed = self._within_budget(stream, entry, hits)
        self._note_headings(stream, view, kept)
        vain = self._in_vain(kept, entry.block.data)
        for end, anchor in kept:
            if anchor in self._exception_ids:
                stream.exceptions.visit(view, view.line_at(end - 1), stream.collector)
                continue
            rule_ids = [rule_id for rule_id in self._rule_ids(anchor) if rule_id not in vain]
            if not rule_ids:
                continue
            line = view.line_at(end - 1)
            for rule_id in rule_ids:
                if (rule_id, line.start) in done:
                    continue
                done.add((rule_id, line.start))
                claim = self._claim(rule_id, view, line.start, end)
                if claim is not None:
                    claims.append(claim)
        if entry.block.offset == 0 or entry.block.last:
            stream.exceptions.headless(view, stream.collector)
        for claim in _undisputed(claims):
            self._add(stream, view, claim)
        for rule_id, count in passed.items():
            stream.collector.more(rule_id, count)

    def _note_headings(self, stream: _Stream, view: BlockLines, hits: Hits) -> None:
        """Note where the files begin that the source shows one after the other."""
        for end, anchor in hits:
            for rule_id in self._headings_of(anchor):
                claim = self._claim(rule_id, view, view.line_at(end - 1).start, end)
                if claim is not None:
                    name = str(claim.match.fields.get("name") or "")
                    stream.collector.heading(view.block.offset + claim.begin, name)

    def _within_budget(self, stream: _Stream, entry: _Pending, hits: Hits) -> tuple[Hits, dict[str, int]]:
        """The hits of this block's own region, floods cut down to their beginning and end.

        Also, for each rule, how many were passed over.
        """
        block = entry.block
        by_anchor: dict[int, list[int]] = {}
        for end, anchor in hits:
            # the last region may be short, so progress is read from its context as well; a sampled
            # anchor's one hit may lie in the context, and is as good as any
            anywhere = anchor in entry.sampled or (block.last and anchor in self._frequent)
            if block.begin < end <= block.end or anywhere:
                by_anchor.setdefault(anchor, []).append(end)
        kept: Hits = []
        passed: dict[str, int] = {}
        hot = set(stream.hot)
        for anchor, ends in by_anchor.items():
            first = last = BLOCK_BUDGET // 2 // stream.share
            if anchor in self._frequent:
                first, last = FREQUENT_BUDGET if block.last else PASSING_BUDGET
            total = stream.seen.get(anchor, 0) + len(ends)
            stream.seen[anchor] = total
            if total > SOURCE_BUDGET // stream.share and anchor not in self._frequent:
                hot.add(anchor)
            if len(ends) > first + last:
                for rule_id in self._rule_ids(anchor):
                    passed[rule_id] = passed.get(rule_id, 0) + len(ends) - first - last
                ends = ends[:first] + ends[-last:]
            kept.extend((end, anchor) for end in ends)
        stream.hot = frozenset(hot)
        kept.sort()
        return kept, passed

    def _in_vain(self, hits: Hits, data: bytes) -> Container[str]:
        """Rules that are hit often in a block that lacks words they need: to put their records together takes long."""
        times = Counter(rule_id for _, anchor in hits for rule_id in self._rule_ids(anchor))
        often = [rule_id for rule_id, count in times.items() if count > OFTEN]
        if not often or b"\x1b" in data:
            return ()  # colours may stand within words
        text = data.lower()
        return {rule_id for rule_id in often if not self._matcher(rule_id).possible(text)}

    def _rule_ids(self, anchor: int) -> Sequence[str]:
        """The rules that an anchor belongs to; none where it is that of an exception."""
        return self._wanted_by[anchor].split() if anchor < len(self._wanted_by) else ()

    def _headings_of(self, anchor: int) -> Sequence[str]:
        """Those rules of an anchor that tell where a file begins."""
        known = self._headings.get(anchor)
        if known is None:
            known = [
                rule_id for rule_id in self._rule_ids(anchor) if self._rules[rule_id].fact == FILE_HEADER
            ]
            self._headings[anchor] = known
        return known

    def _matcher(self, rule_id: str) -> Matcher:
        matcher = self._matchers.get(rule_id)
        if matcher is None:
            matcher = self._matchers[rule_id] = Matcher(self._rules[rule_id], self._rules.needs(rule_id))
        return matcher

    def _claim(self, rule_id: str, view: BlockLines, start: int, end: int) -> _Claim | None:
        matcher = self._matcher(rule_id)
        signature = matcher.signature
        # an anchor that wraps ends on a later line than its pattern starts on
        record = record_at(
            view,
            view.line_at(end - 1),
            before=max(signature.before, 0 if signature.frequent else 1),
            after=signature.lines,
            most=BRIEF if signature.frequent else CONTINUATION,
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
        if header is not None and header.stream == prefix.stream and header.rank is not None:
            prefix = prefix._replace(rank=header.rank, local_rank=header.local_rank)
        elif (
            header is not None
            and (prefix.clocked or not prefix.stamped)  # a bare time may stand before every line
            and (
                # under a launcher's label the first line of a traceback says more than those that follow
                prefix.rank is None or header.stream.startswith(f"{prefix.stream}/")
            )
        ):
            prefix = header
        elif header is None:
            prefix = explained(view, line) or prefix
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


def _scan(rare: AnchorDatabase, frequent: AnchorDatabase | None, block: Block) -> _Scanned:
    """What a worker thread does with a block."""
    data = block.data
    hits, missed = rare.scan(data)
    if frequent is not None:
        for begin, end in _edges(block):
            found, _ = frequent.scan(data if begin == 0 and end == len(data) else data[begin:end])
            hits += [(at + begin, anchor) for at, anchor in found]
        hits.sort()
    return hits, missed, _newlines(block)


def _newlines(block: Block) -> int:
    """The newlines in a block's own region.

    Dropping them jumps from one to the next, where ``count`` of Python before 3.13 steps through the bytes.
    """
    data = block.data
    inside = len(data) - len(data.replace(b"\n", b""))
    return inside - data.count(b"\n", 0, block.begin) - data.count(b"\n", block.end)


def _edges(block: Block) -> Iterator[tuple[int, int]]:
    """The stretches of a block in which facts that many lines carry are looked for."""
    size = len(block.data)
    if block.last and size > 2 * EDGE:
        if block.offset == 0:
            yield 0, EDGE
        yield size - EDGE, size
    else:
        yield 0, size if block.last else block.begin + EDGE


def _undisputed(claims: list[_Claim]) -> Iterator[_Claim]:
    """What is left when benign rules and refinements have taken the lines they know better."""
    # a rule with conditions may yet be found not to apply: triage.diagnosis decides of those
    sure = [c for c in claims if c.rule.when is None]
    benign = [c for c in sure if c.rule.role == "benign"]
    refined = [(c, frozenset(c.rule.refines)) for c in sure if c.rule.refines]
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
        if _of_source(claim) and any(_stated(other, claim) for other in claims):
            continue
        yield claim


def _of_source(claim: _Claim) -> bool:
    """Whether it was found in the row of source that a traceback quotes, where the message is written."""
    row = _line_of(claim).message
    words = row.lstrip()
    # a condition may stand before it, on the same row
    return words.startswith(("raise ", "assert ")) or (row[:4] == "    " and ": raise " in words)


def _stated(other: _Claim, quoted: _Claim) -> bool:
    """Whether ``other`` is what was raised by a quoted row: right below it, by the same writer."""
    return (
        other.rule is quoted.rule
        and 0 < other.begin - quoted.begin < MESSAGE_AFTER
        and _line_of(other).prefix.rank == _line_of(quoted).prefix.rank
        and not _of_source(other)
    )


def _line_of(claim: _Claim) -> Line:
    return claim.record.lines[claim.record.line_of(claim.match.start)]


def _overlap(one: _Claim, other: _Claim) -> bool:
    return one.begin < other.end and other.begin < one.end
