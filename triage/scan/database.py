"""The multi-pattern database: every anchor of every rule in one Hyperscan pass."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any


def expression_of(anchor: str) -> bytes:
    """An anchor as a Hyperscan expression: literal bytes, spaces matching any white space."""
    words = anchor.split()
    return rb"\s+".join(
        b"".join(b"\\x%02x" % byte if not _plain(byte) else bytes((byte,)) for byte in word.encode())
        for word in words
    )


def _plain(byte: int) -> bool:
    return byte in b"_ " or chr(byte).isalnum() and byte < 128


class AnchorDatabase:
    """Anchors compiled once. ``scan`` may be called from several threads.

    Anchors named in ``sampled`` report at most one hit a scan (the first); the others report all.
    """

    def __init__(self, anchors: Mapping[int, str], sampled: Collection[int] = ()) -> None:
        import hyperscan

        self._hyperscan = hyperscan
        self._threads = threading.local()
        self._empty = not anchors
        if self._empty:
            return
        once = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
        every = hyperscan.HS_FLAG_CASELESS
        ids = sorted(anchors)
        self._database = hyperscan.Database()
        self._database.compile(
            expressions=[expression_of(anchors[i]) for i in ids],
            ids=ids,
            elements=len(ids),
            flags=[once if i in sampled else every for i in ids],
        )

    def scan(self, data: bytes) -> list[tuple[int, int]]:
        """``(end, anchor id)`` of every hit, in order of position."""
        if self._empty or not data:
            return []
        scratch: Any = getattr(self._threads, "scratch", None)
        if scratch is None:
            scratch = self._threads.scratch = self._hyperscan.Scratch(self._database)
        hits: list[tuple[int, int]] = []
        append = hits.append

        def on_match(anchor: int, _start: int, end: int, _flags: int, _context: object) -> None:
            append((end, anchor))

        self._database.scan(data, match_event_handler=on_match, scratch=scratch)
        hits.sort()
        return hits
