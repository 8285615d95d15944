"""The multi-pattern database: every anchor of every rule in one Hyperscan pass."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

PLAIN = 24 << 10
"""Bytes a database searches literal by literal before it is compiled: that takes longer than a small log."""

MANY = 500
"""Windows from which on it is faster to note once what stands in a text than to search it for each."""
BEGINNING = 4
"""Bytes of a window that are looked up there."""
EXCERPT = 16 << 10
"""Bytes of what is looked at of a source that is short enough to have been pasted."""
_GOES_ON = re.compile(rb"(?m)^[^\n]{24,160}[a-z,]\r?\n[a-z]{2,12} [a-z]")
"""A sentence that is broken over two lines."""

Hits = list[tuple[int, int]]
"""``(end, anchor id)`` of each hit, in order of position."""


def looks_wrapped(data: bytes) -> bool:
    """Whether lines end where a console of 80 or 100 columns would have broken them.

    rich wraps whatever goes through it; its boxes give it away, or several lines of nearly the same
    length that end in the middle of a sentence. In an excerpt one sentence that goes on below is enough:
    mail programs and people who paste break lines too.
    """
    if "╭─".encode() in data or "│".encode() in data:
        return True
    if len(data) <= EXCERPT and _GOES_ON.search(data) is not None:
        return True
    full = sum(1 for line in data.split(b"\n") if 76 <= len(line) <= 80 and line[-1:].isalnum())
    return full >= 3


class AnchorDatabase:
    """Anchors compiled once per scan that runs at a time. ``scan`` may be called from several threads.

    What is looked for are windows into the anchors; where one is found, its anchors are compared.

    Args:
        anchors: the anchors in lower case, by id.
        windows: a part of each anchor, by the anchor; the whole of it where there is none.
        sampled: ids of anchors that report at most one hit a scan (the first); the others report all.
        spelled: windows that turn up too often without any of their anchors: these are looked for
            themselves.
        wrapped: whether programs may have broken the anchors at a space.
    """

    def __init__(
        self,
        anchors: Mapping[int, str],
        windows: Mapping[str, str] | None = None,
        sampled: Collection[int] = (),
        spelled: Collection[str] = (),
        *,
        wrapped: bool = False,
    ) -> None:
        self._lock = threading.Lock()
        self._free: list[tuple[Any, Any]] = []
        self._compiling = threading.Lock()
        self._packed: bytes | None = None
        self._wrapped = wrapped
        self._anchors = anchors
        self._members: list[list[int]] = []
        """For each window the anchors that it may be a part of."""
        self._windows: list[str] = []
        self._compare: dict[int, list[tuple[int, bytes, int]]] = {}
        self._once: set[int] = set()
        groups: dict[tuple[str, bool], list[int]] = {}
        known = windows or {}
        for number, anchor in anchors.items():
            once = number in sampled
            window = known.get(anchor, anchor)
            if once or window in spelled:
                window = anchor
            groups.setdefault((window, once), []).append(number)
        for position, ((window, once), numbers) in enumerate(groups.items()):
            self._windows.append(window)
            self._members.append(numbers)
            if once:
                self._once.add(position)
        self._plain_left = PLAIN

    def compile(self) -> None:
        """Compile now what a large log will need, rather than when it comes to it."""
        with self._lock:
            if not self._free and self._windows:
                self._free.append(self._compiled())

    def scan(self, data: bytes) -> tuple[Hits, dict[str, int]]:
        """The hits in ``data``, and how often each window was found that none of its anchors was at."""
        if not self._windows or not data:
            return [], {}
        with self._lock:
            pair = self._free.pop() if self._free else None
            self._plain_left -= len(data)
            plain = pair is None and self._plain_left >= 0
        if plain:
            return self._compared(data, self._search(data))
        database, scratch = pair = pair or self._compiled()
        found: list[tuple[int, int]] = []
        append = found.append

        def on_match(window: int, _start: int, end: int, _flags: int, _context: object) -> None:
            append((end, window))

        try:
            database.scan(data, match_event_handler=on_match, scratch=scratch)
        finally:
            with self._lock:
                self._free.append(pair)
        return self._compared(data, found)

    def _compiled(self) -> tuple[Any, Any]:
        """A database and its scratch; scans that share one hold each other up, and a copy takes no time."""
        import hyperscan

        with self._compiling:
            if self._packed is None:
                self._packed = hyperscan.dumpb(self._compile())
        database = hyperscan.loadb(self._packed, hyperscan.HS_MODE_BLOCK)
        return database, hyperscan.Scratch(database)

    def _compile(self) -> Any:
        import hyperscan

        literals = list(self._literals())
        once = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
        database = hyperscan.Database()
        database.compile(
            expressions=[expression for expression, _ in literals],
            ids=[window for _, window in literals],
            elements=len(literals),
            flags=[once if window in self._once else hyperscan.HS_FLAG_CASELESS for _, window in literals],
            literal=True,
        )
        return database

    def _literals(self) -> Iterator[tuple[bytes, int]]:
        """Each window as the scan looks for it, with its position."""
        for position, window in enumerate(self._windows):
            if self._wrapped:
                for expression in _broken(window):
                    yield expression, position
            else:
                yield window.encode(), position

    def _search(self, data: bytes) -> list[tuple[int, int]]:
        """``(end, window)`` of every window, found by one search for each that may be there."""
        text = data.lower()
        if self._wrapped:
            text = text.replace(b"\n", b" ")
        begun = _beginnings(text) if len(self._windows) > MANY else None
        found: list[tuple[int, int]] = []
        for window, literal in enumerate(self._windows):
            expression = literal.encode()
            if begun is not None and len(expression) >= BEGINNING and expression[:BEGINNING] not in begun:
                continue
            at = text.find(expression)
            while at >= 0:
                found.append((at + len(expression), window))
                at = -1 if window in self._once else text.find(expression, at + 1)
        return found

    def _compared(self, data: bytes, found: list[tuple[int, int]]) -> tuple[Hits, dict[str, int]]:
        """The anchors that stand where windows were found."""
        hits: set[tuple[int, int]] = set()
        missed: dict[str, int] = {}
        for end, window in found:
            text = self._windows[window]
            members = self._members[window]
            if len(members) == 1 and self._anchors[members[0]] == text:
                hits.add((end, members[0]))  # the whole anchor: there is nothing to compare
                continue
            there = False
            for number, anchor, shift in self._around(window):
                start = end - shift
                stretch = data[max(0, start) : start + len(anchor)].lower()
                if stretch == anchor or (self._wrapped and stretch.replace(b"\n", b" ") == anchor):
                    hits.add((start + len(anchor), number))
                    there = True
            if not there:
                missed[text] = missed.get(text, 0) + 1
        return sorted(hits), missed

    def _around(self, window: int) -> list[tuple[int, bytes, int]]:
        """The anchors that a window may be a part of, and how far before its end each begins."""
        known = self._compare.get(window)
        if known is None:
            text = self._windows[window]
            anchors = [(number, self._anchors[number]) for number in self._members[window]]
            known = self._compare[window] = [
                (number, anchor.encode(), len(anchor[: anchor.find(text) + len(text)].encode()))
                for number, anchor in anchors
            ]
        return known


def _beginnings(text: bytes) -> set[bytes]:
    """All that stands anywhere in ``text`` and is as long as the beginning of a window."""
    return {text[at : at + BEGINNING] for at in range(len(text) - BEGINNING + 1)}


def _broken(window: str) -> Iterator[bytes]:
    r"""A window as it stands and broken at each of its spaces.

    Pure literals compile a hundred times faster than patterns with ``\s+`` and scan faster too, so
    the places where a program may wrap its message are spelled out, and only where lines look wrapped.
    """
    words = window.split(" ")
    for wrap in range(len(words)):
        gaps = [" "] * len(words)
        if wrap:
            gaps[wrap] = "\n"
        text = words[0] + "".join(gap + word for gap, word in zip(gaps[1:], words[1:], strict=True))
        yield text.encode()
