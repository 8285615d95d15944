"""Patterns that are compiled when they are first used: start-up time is a feature."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, AnyStr, cast


@cache
def compiled(source: str) -> re.Pattern[str]:
    """The pattern ``source``, compiled once, with ASCII classes."""
    return re.compile(source, re.ASCII)


def deferred(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern ``source`` as ``re.compile`` makes it, compiled when it is first asked something."""
    return cast("re.Pattern[AnyStr]", _Deferred(source, flags))


class _Deferred:
    """Stands for a pattern; each of its methods is looked up once."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:
        source, flags = self._given
        found = getattr(re.compile(cast("str", source), flags), name)
        setattr(self, name, found)
        return found


class Lazy:
    """A pattern to match with at a position, compiled on first use, at no cost afterwards."""

    __slots__ = ("match", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.match: Callable[[str, int], re.Match[str] | None] = self._first_match

    def _first_match(self, text: str, at: int) -> re.Match[str] | None:
        self.match = compiled(self.source).match
        return self.match(text, at)
