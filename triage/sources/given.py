"""What callers of the library hand over: paths, text, bytes, open streams, labelled sources."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Any, TypeAlias

from triage.errors import InputError, UsageError
from triage.model import ByteStream, Source

Input: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | IO[Any] | ByteStream | Source"
"""A path or glob, ``-`` for standard input, bytes, an open stream, or a labelled source.

A ``str`` is always a path; text goes through :func:`text_source`.
"""

BYTES_PER_SECOND = 64 << 20
"""Bytes that one second of a time budget buys. The rate is fixed, so that the same input and budget are
cut at the same place on every machine."""


def text_source(
    text: str,
    name: str = "<text>",
    *,
    kind: str | None = None,
    rank: int | None = None,
    local_rank: int | None = None,
    host: str | None = None,
    attempt: int | None = None,
) -> Source:
    """A source that holds ``text`` itself.

    Args:
        text: the log.
        name: how reports call it.
        kind, rank, local_rank, host, attempt: as for :class:`~triage.model.Source`.
    """
    return Source(
        name,
        data=text.encode("utf-8", "replace"),
        kind=kind,
        rank=rank,
        local_rank=local_rank,
        host=host,
        attempt=attempt,
    )


def arguments_of(inputs: Input | Iterable[Input]) -> list[str | os.PathLike[str] | Source]:
    """``inputs`` as paths and sources, in the order given.

    Raises:
        UsageError: for a value that is none of the above.
        InputError: for a text where a path belongs.
    """
    if _single(inputs):
        return [_argument(inputs, 0)]
    if not isinstance(inputs, Iterable):
        return [_argument(inputs, 0)]  # which says what it should be
    return [_argument(value, i) for i, value in enumerate(inputs)]


def _single(value: object) -> bool:
    return isinstance(value, str | bytes | bytearray | memoryview | os.PathLike | Source) or hasattr(
        value, "read"
    )


def _argument(value: Any, index: int) -> str | os.PathLike[str] | Source:
    if isinstance(value, Source | os.PathLike):
        return value
    if isinstance(value, str):
        if "\n" in value:
            raise InputError(
                "a str is a path, and this one has several lines: wrap a text in triage.text_source(…)"
            )
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return Source(f"<input {index}>", data=bytes(value))
    if hasattr(value, "read"):
        return Source(_stream_name(value, index), stream=_Encoded(value))
    raise UsageError(
        f"can't read a {type(value).__name__}: give paths, bytes, open streams, or triage.Source objects"
    )


def _stream_name(stream: object, index: int) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else f"<stream {index}>"


class _Encoded:
    """A stream that gives bytes, whether it was opened as text or not."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._rest = b""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; text that encodes to more than was asked for is kept for the next call."""
        if not self._rest:
            piece = self._stream.read(size)
            self._rest = piece.encode("utf-8", "replace") if isinstance(piece, str) else piece or b""
        if size < 0 or not isinstance(self._rest, bytes):
            piece, self._rest = self._rest, b""
            return piece
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece
