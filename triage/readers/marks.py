"""Which of many words stand in a text: found in one pass, where that is worth it."""

from __future__ import annotations

from collections.abc import Container, Iterable

from triage.scan.database import AnchorDatabase


class Marks:
    """Words that readers look for. Safe to use from several threads at once."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = dict(enumerate(dict.fromkeys(words)))
        self._database = AnchorDatabase(
            {number: word.decode().lower() for number, word in self._words.items()}, sampled=self._words
        )

    def within(self, data: bytes) -> Container[bytes]:
        """Those that stand in ``data``."""
        hits, _ = self._database.scan(data)
        # the pass takes capital letters for small ones
        return {word for _, number in hits if (word := self._words[number]) in data}
