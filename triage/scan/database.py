"""The multi-pattern database: every anchor of every rule in one Hyperscan pass."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

PLAIN = 24 << 10
"""Bytes a database searches anchor by anchor before it is compiled: that takes longer than a small log."""


def expressions_of(anchor: str, wrapped: bool = False) -> Iterator[bytes]:
    """An anchor as Hyperscan literals: as it stands and, when ``wrapped``, broken at each space.

    Pure literals compile a hundred times faster than patterns with ``\\s+`` and scan faster too, so
    the places where a program may wrap its message are spelled out, and only where lines look wrapped.
    """
    words = anchor.split(" ")
    for wrap in range(len(words) if wrapped else 1):
        gaps = [" "] * len(words)
        if wrap:
            gaps[wrap] = "\n"
        text = words[0] + "".join(gap + word for gap, word in zip(gaps[1:], words[1:], strict=True))
        yield text.encode()


def looks_wrapped(data: bytes) -> bool:
    """Whether lines end where a console of 80 or 100 columns would have broken them.

    rich wraps whatever goes through it; its boxes give it away, or several lines of nearly the same
    length that end in the middle of a sentence.
    """
    if "╭─".encode() in data or "│".encode() in data:
        return True
    full = sum(1 for line in data.split(b"\n") if 76 <= len(line) <= 80 and line[-1:].isalnum())
    return full >= 3


class AnchorDatabase:
    """Anchors compiled once per scan that runs at a time. ``scan`` may be called from several threads.

    Anchors named in ``sampled`` report at most one hit a scan (the first); the others report all.
    """

    def __init__(
        self, anchors: Mapping[int, str], sampled: Collection[int] = (), *, wrapped: bool = False
    ) -> None:
        self._lock = threading.Lock()
        self._free: list[tuple[Any, Any]] = []
        self._sampled = frozenset(sampled)
        entries = [(e, i) for i in sorted(anchors) for e in expressions_of(anchors[i], wrapped)]
        self._expressions = [expression for expression, _ in entries]
        self._ids = [number for _, number in entries]
        self._plain_left = PLAIN

    def _compile(self) -> tuple[Any, Any]:
        """A database and its scratch; scans that share one hold each other up."""
        import hyperscan

        once = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
        database = hyperscan.Database()
        database.compile(
            expressions=self._expressions,
            ids=self._ids,
            elements=len(self._ids),
            flags=[once if i in self._sampled else hyperscan.HS_FLAG_CASELESS for i in self._ids],
            literal=True,
        )
        return database, hyperscan.Scratch(database)

    def scan(self, data: bytes) -> list[tuple[int, int]]:
        """``(end, anchor id)`` of every hit, in order of position."""
        if not self._ids or not data:
            return []
        with self._lock:
            pair = self._free.pop() if self._free else None
            self._plain_left -= len(data)
            plain = pair is None and self._plain_left >= 0
        if plain:
            return self._search(data)
        database, scratch = pair = pair or self._compile()
        hits: list[tuple[int, int]] = []
        append = hits.append

        def on_match(anchor: int, _start: int, end: int, _flags: int, _context: object) -> None:
            append((end, anchor))

        try:
            database.scan(data, match_event_handler=on_match, scratch=scratch)
        finally:
            with self._lock:
                self._free.append(pair)
        hits.sort()
        return hits

    def _search(self, data: bytes) -> list[tuple[int, int]]:
        """What ``scan`` gives, found by one search for each anchor."""
        text = data.lower()
        hits: set[tuple[int, int]] = set()
        for expression, number in zip(self._expressions, self._ids, strict=True):
            wanted = expression.lower()
            at = text.find(wanted)
            while at >= 0:
                hits.add((at + len(wanted), number))
                at = -1 if number in self._sampled else text.find(wanted, at + 1)
        return sorted(hits)
