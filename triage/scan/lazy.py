"""Patterns that are compiled when they are first used: start-up time is a feature."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


@cache
def compiled(source: str) -> re.Pattern[str]:
    """The pattern ``source``, compiled once, with ASCII classes."""
    return re.compile(source, re.ASCII)


class Lazy:
    """A pattern to match with at a position, compiled on first use, at no cost afterwards."""

    __slots__ = ("match", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.match: Callable[[str, int], re.Match[str] | None] = self._first_match

    def _first_match(self, text: str, at: int) -> re.Match[str] | None:
        self.match = compiled(self.source).match
        return self.match(text, at)
