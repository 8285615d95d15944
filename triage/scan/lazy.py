"""Patterns that are compiled when they are first used: start-up time is a feature.

Compiling a long pattern takes a thousand times as long as finding that none of some words is there. Where a
pattern names words that it needs, it is not compiled before a text has one of them, which most texts never do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, AnyStr, cast


@cache
def compiled(source: str) -> re.Pattern[str]:
    """The pattern ``source``, compiled once, with ASCII classes."""
    return re.compile(source, re.ASCII)


def deferred(source: AnyStr, flags: int = 0, needs: Sequence[AnyStr] = ()) -> re.Pattern[AnyStr]:
    """The pattern ``source`` as ``re.compile`` makes it, compiled when it is first asked something.

    Args:
        needs: words of which every match holds one, in small letters where ``flags`` ignore case: of a text without
            them nothing is asked.
    """
    late: object = Needing(source, flags, needs) if needs else _Deferred(source, flags)
    return cast("re.Pattern[AnyStr]", late)


class _Deferred:
    """Stands for a pattern; each of its methods is looked up once."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.source, self.given = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(cast("str", self.source), self.given), name)
        setattr(self, name, found)
        return found


class Needing(_Deferred):
    """Stands for a pattern that finds nothing where none of some words is; compiled when a text has one of them."""

    def __init__(self, source: str | bytes, flags: int, needs: Sequence[str | bytes]) -> None:
        super().__init__(source, flags)
        self.needs = needs

    def __getattr__(self, name: str) -> Any:
        if name not in _FOUND_NOTHING:
            return super().__getattr__(name)

        def ask(*arguments: Any) -> Any:
            text = arguments[_TEXT_OF_SUB if name == "sub" else 0]
            if not self._may_match(text):
                return _FOUND_NOTHING[name](text)
            return super(Needing, self).__getattr__(name)(*arguments)

        setattr(self, name, ask)
        return ask

    def _may_match(self, text: Any) -> bool:
        if self.given & re.IGNORECASE:
            text = text.lower()
        return any(word in text for word in self.needs)


_FOUND_NOTHING: Mapping[str, Callable[[Any], Any]] = {
    "search": lambda text: None,
    "match": lambda text: None,
    "fullmatch": lambda text: None,
    "findall": lambda text: [],
    "finditer": lambda text: iter(()),
    "sub": lambda text: text,
}
"""What the methods of a pattern answer of a text in which it finds nothing."""
_TEXT_OF_SUB = 1


class Lazy:
    """A pattern to match with at a position, compiled on first use, at no cost afterwards.

    Args:
        needs: words of which every match holds one: before a text has one of them, it is not compiled.
    """

    __slots__ = ("match", "needs", "source")

    def __init__(self, source: str, needs: Sequence[str] = ()) -> None:
        self.source = source
        self.needs = needs
        self.match: Callable[[str, int], re.Match[str] | None] = self._first_match

    def _first_match(self, text: str, at: int) -> re.Match[str] | None:
        if self.needs and not any(word in text for word in self.needs):
            return None
        self.match = compiled(self.source).match
        return self.match(text, at)
