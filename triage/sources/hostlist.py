"""Slurm's node lists: ``gpu-a[001-003,7],login1`` to names. Bounded, since a list may come from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_NODES = 20_000
_MAX_BRACKETS = 4
_NOTHING = frozenset({"", "(null)", "none", "None assigned", "n/a", "N/A", "Unknown"})


def expand(text: str | None) -> tuple[str, ...]:
    """The node names in ``text``, in order, without repeats; at most ``MAX_NODES``."""
    if text is None or text.strip() in _NOTHING:
        return ()
    names: dict[str, None] = {}
    for part in _split(text.strip()):
        for name in _names(part):
            names[name] = None
            if len(names) >= MAX_NODES:
                return tuple(names)
    return tuple(names)


def _split(text: str) -> Iterator[str]:
    """The comma-separated parts, commas in brackets left alone."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth = max(0, depth - 1)
        elif letter == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def _names(part: str, brackets: int = 0) -> Iterator[str]:
    match = re.search(r"\[([^\[\]]*)\]", part)
    if match is None or brackets >= _MAX_BRACKETS:
        if part:
            yield part
        return
    head, tail = part[: match.start()], part[match.end() :]
    for number in _numbers(match[1]):
        yield from _names(f"{head}{number}{tail}", brackets + 1)


def _numbers(ranges: str) -> Iterator[str]:
    for piece in ranges.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})-(\d{1,9})\s*", piece)
        if match is None:
            if piece.strip():
                yield piece.strip()
            continue
        first, last = int(match[1]), int(match[2])
        width = len(match[1]) if match[1].startswith("0") else 0
        for number in range(first, min(last, first + MAX_NODES) + 1):
            yield f"{number:0{width}d}"
