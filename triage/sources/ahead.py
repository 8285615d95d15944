"""Pipes that hold no more than somebody would paste, read before anything else: they can be looked at as files can."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from triage.model import ByteStream, Source
from triage.sources.posted import LARGEST

_CHUNK = 256 << 10


def held(sources: Iterable[Source]) -> tuple[Source, ...]:
    """``sources``, the small streams among them with their bytes in memory; a larger one gives the same bytes as before."""
    return tuple(source if source.stream is None else _held(source, source.stream) for source in sources)


def _held(source: Source, stream: ByteStream) -> Source:
    pieces: list[bytes] = []
    left = LARGEST
    while left > 0:
        try:
            piece: Any = stream.read(min(left, _CHUNK))
        except (
            Exception
        ) as error:  # a stream may be anybody's: whoever reads it has to say what is wrong with it
            return replace(source, stream=_PutBack(b"".join(pieces), stream, error=error))
        if piece is not None and not isinstance(piece, bytes):
            return replace(source, stream=_PutBack(b"".join(pieces), stream, odd=piece))
        if not piece:
            return replace(source, stream=None, data=b"".join(pieces))
        pieces.append(piece)
        left -= len(piece)
    return replace(source, stream=_PutBack(b"".join(pieces), stream))


class _PutBack:
    """A stream whose beginning has been read, from its beginning."""

    def __init__(
        self, head: bytes, stream: ByteStream, *, error: Exception | None = None, odd: Any = None
    ) -> None:
        self._head = head
        self._at = 0
        self._stream = stream
        self._error = error
        self._odd = odd

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; what went wrong when they were read goes wrong again."""
        if self._at < len(self._head):
            end = len(self._head) if size < 0 else self._at + size
            piece = self._head[self._at : end]
            self._at += len(piece)
            return piece
        if self._error is not None:
            raise self._error
        if self._odd is not None:
            odd, self._odd = self._odd, None
            return odd  # type: ignore[no-any-return]
        return self._stream.read(size)
