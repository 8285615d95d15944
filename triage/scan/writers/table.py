"""The words of records, and where in a record they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import islice, zip_longest

from triage.scan.lazy import deferred

_SIGNS = "[](){}<>|,;:/\"'="
"""What stands between words beside white space."""
_BETWEEN = dict.fromkeys(map(ord, _SIGNS), " ")
_WORD = deferred(r"[^\s\[\](){}<>|,;:/\"'=]+")
KEYS = deferred(r"(?<![\w.-])([A-Za-z_]\w{0,30})[\"']?(?:=|: ?)[\"']?(?=\w)")
"""A name that a value is given under."""
_KEPT = 256
"""Lines whose words are kept: those of a log are looked at again without some of them."""
_WITHIN = 18
"""Places from the beginning that are asked for."""
Row = tuple[Sequence[str], Sequence[int]]
"""Words, and where each begins."""
Place = tuple[int, int]


def row_of(line: str, key: str = "") -> Row:
    """What stands between spaces, brackets and the like; with a ``key``, what first stands under it."""
    if not key:
        return _placed(line)
    found = next((found for found in KEYS.finditer(line) if found[1] == key), None)
    value = None if found is None else _WORD.match(line, found.end())
    return ([], []) if value is None else ([value[0]], [value.start()])


@lru_cache(maxsize=_KEPT)
def _split(line: str) -> tuple[str, Sequence[str]]:
    """A line with nothing but spaces between its words, and these."""
    text = line.translate(_BETWEEN)
    return text, text.split()


@lru_cache(maxsize=_KEPT)
def _placed(line: str) -> Row:
    """The words of a line and where they begin."""
    text, words = _split(line)
    return words, _starts(text, words)


def _starts(text: str, words: Sequence[str]) -> list[int]:
    """Where the ``words`` begin that ``text`` was split into."""
    starts: list[int] = []
    at = 0
    for word in words:
        at = text.find(word, at)
        starts.append(at)
        at += len(word)
    return starts


def place_of(row: Row, first: int, last: int) -> Place | None:
    """Where a name stands that takes the words from one place to another; a stop behind it is none of it."""
    words, starts = row
    if len(words) < max(1, last + 1, -first):
        return None
    return starts[first], starts[last] + len(without_stop(words[last]))


def without_stop(word: str) -> str:
    """A word without what ends a sentence behind it."""
    return word if word[-1] != "." else word.rstrip(".") or "."


class Table:
    """Records and their words; where in a record these stand is asked for a few places only.

    With a ``key`` it is one word of each: what first stands under it.
    """

    def __init__(self, records: Sequence[str], key: str = "") -> None:
        self.records = records
        self._key = key
        self.words: Sequence[Sequence[str]] = (
            [words for words, _ in self.rows] if key else [_split(line)[1] for line in records]
        )
        self._columns = list(islice(zip_longest(*self.words), _WITHIN))

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The words of each record and where they stand in it."""
        return [row_of(line, self._key) for line in self.records]

    def column(self, at: int) -> Sequence[str]:
        """The words at a place, of the records that are as long."""
        if at < 0:
            return [row[at] for row in self.words if len(row) >= -at]
        column = self._columns[at] if at < len(self._columns) else ()
        return [word for word in column if word is not None]

    def places(self, first: int, last: int) -> Sequence[tuple[str, Place]]:
        """The records in which a name stands from one place to another, and where it does."""
        found = [
            (line, place_of(row, first, last)) for line, row in zip(self.records, self.rows, strict=True)
        ]
        return [(line, place) for line, place in found if place is not None]
