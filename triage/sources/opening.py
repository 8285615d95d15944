"""From a source to its bytes: opened, decompressed, as UTF-8, readable by offset.

A window answers ``at(offset, size)``: up to ``size`` bytes from ``offset`` of the decompressed
source, fewer only at its end. Offsets may overlap what was asked before, by no more than the last
answer, and never go back further.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from dataclasses import dataclass
from typing import Protocol

from triage.errors import InputError
from triage.model import ByteStream, Source
from triage.sources.constants import HEAD_SIZE, UNSIZED_LIMIT
from triage.sources.glued import taken_apart
from triage.sources.inflate import Inflater, compression_of
from triage.sources.narrow import NOTE as WHOLE
from triage.sources.narrow import joined
from triage.sources.posted import LARGEST, as_written
from triage.sources.reported import NOTE as REPORTED
from triage.sources.reported import output_first
from triage.sources.turned import NOTE, oldest_first
from triage.sources.utf16 import Utf16Reader, utf16_of

_CHUNK = 256 << 10


class Window(Protocol):
    """Bytes by offset."""

    @property
    def note(self) -> str | None:
        """What went wrong so far, if anything did."""

    @property
    def complete(self) -> bool:
        """False when there was more than could be read."""

    @property
    def size(self) -> int | None:
        """How many bytes there are, where that is known beforehand."""

    def at(self, offset: int, size: int, /) -> bytes:
        """The bytes from ``offset``, at most ``size``."""

    def close(self) -> None:
        """Give back what was opened for this source."""


@dataclass(slots=True, eq=False, repr=False)
class BytesWindow:
    """A source that is in memory already."""

    data: bytes
    note: str | None = None
    complete: bool = True

    @property
    def size(self) -> int | None:
        """Number of bytes."""
        return len(self.data)

    def at(self, offset: int, size: int, /) -> bytes:
        """The bytes from ``offset``, at most ``size``."""
        return self.data[offset : offset + size]

    def close(self) -> None:
        """Nothing to give back."""


class FileWindow:
    """A regular file, read by position, up to its end as it was when the reading got there.

    A file that grows faster than it is read comes to an end all the same; one that shrinks is
    reported.
    """

    def __init__(self, file: io.FileIO, size: int) -> None:
        self._file = file
        self._size = size
        self._grown = False
        self._position = 0
        self.note: str | None = None
        self.complete = True

    @property
    def size(self) -> int | None:
        """Number of bytes, as far as the file has been looked at."""
        return self._size

    def at(self, offset: int, size: int, /) -> bytes:
        """The bytes from ``offset``, at most ``size``."""
        if offset + size > self._size and not self._grown:
            self._grown = True
            self._size = max(self._size, os.fstat(self._file.fileno()).st_size)
        wanted = min(size, self._size - offset)
        if wanted <= 0:
            return b""
        data = b""
        reason = "the file became shorter while it was read"
        try:
            while len(data) < wanted:
                more = os.pread(self._file.fileno(), wanted - len(data), offset + len(data))
                if not more:
                    break
                data = data + more if data else more
        except OSError as error:
            reason = reason_of(error)
        if len(data) < wanted:
            self.note, self.complete = reason, False
        return data

    def read(self, size: int = -1, /) -> bytes:
        """The same bytes as a stream, for decoders."""
        data = self.at(self._position, size if size >= 0 else _CHUNK)
        self._position += len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def reason_of(error: Exception) -> str:
    """Why something could not be read, for a person."""
    if isinstance(error, FileNotFoundError) or (isinstance(error, OSError) and error.errno == errno.ESTALE):
        return "it vanished before it could be read"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, OSError) and error.errno:
        return f"it could not be read: {os.strerror(error.errno)}"
    return f"it could not be read: {error or type(error).__name__}"


class _Part(Protocol):
    """A stage between the disk and the reader that can come to an early end."""

    @property
    def note(self) -> str | None: ...
    @property
    def complete(self) -> bool: ...


class StreamWindow:
    """What can only be read once, front to back: pipes, archives, transcoded text."""

    def __init__(self, stream: ByteStream, parts: tuple[_Part, ...], owned: io.FileIO | None) -> None:
        self._stream = stream
        self._parts = parts
        self._owned = owned
        self._buffer = b""
        self._base = 0
        self._failure: str | None = None

    @property
    def note(self) -> str | None:
        """What went wrong first."""
        return self._failure or next((part.note for part in self._parts if part.note), None)

    @property
    def complete(self) -> bool:
        """False when reading or decoding failed."""
        return self._failure is None and all(part.complete for part in self._parts)

    @property
    def size(self) -> int | None:
        """Unknown: only reading it all would tell."""
        return None

    def at(self, offset: int, size: int, /) -> bytes:
        """The bytes from ``offset``, at most ``size``; what lies before ``offset`` is forgotten."""
        pieces = [self._buffer[offset - self._base :]]
        have = len(pieces[0])
        try:
            while have < size and self._failure is None:
                piece = self._stream.read(min(size - have, _CHUNK))
                if not piece:
                    break
                pieces.append(piece)
                have += len(piece)
        except InputError:
            raise
        except Exception as error:  # the stream may be anybody's
            self._failure = reason_of(error)
        self._base = offset
        self._buffer = b"".join(pieces)
        return self._buffer if have <= size else self._buffer[:size]

    def close(self) -> None:
        """Close what was opened for it; a stream that was given stays open."""
        if self._owned is not None:
            self._owned.close()


class _Rewound:
    """A stream of which the beginning can be looked at and is read again afterwards."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes, fewer at the end."""
        while len(self._ahead) < size:
            piece = self.fresh(size - len(self._ahead))
            if not piece:
                break
            self._ahead += piece
        return self._ahead[:size]

    def read(self, size: int = -1, /) -> bytes:
        size = size if size >= 0 else _CHUNK
        if self._ahead:
            piece, self._ahead = self._ahead[:size], self._ahead[size:]
            return piece
        return self.fresh(size)

    def fresh(self, size: int) -> bytes:
        piece = self._stream.read(size)
        if not isinstance(piece, bytes | None):
            raise InputError(f"a stream must give bytes, not {type(piece).__name__}: open it in binary mode")
        return piece or b""


def open_window(source: Source) -> Window:
    """Open ``source`` for reading.

    Raises:
        OSError, ValueError: when it can't be opened or its beginning can't be read.
        DecoderMissingError: when it needs a decoder that is not installed.
        Exception: whatever a stream raises that is not triage's own.
        InputError: when its stream doesn't give bytes, or it has neither path, data nor stream.
    """
    if source.data is not None:
        if compression_of(source.data) is None and utf16_of(source.data[:HEAD_SIZE]) is None:
            written, note = _as_it_was_written(source.data)
            return BytesWindow(source.data if written is None else written, note)
        return _decoded(io.BytesIO(source.data))
    if source.stream is not None:
        return _decoded(source.stream)
    if source.path is None:
        raise InputError(f"{source.name}: a source needs a path, data or a stream")
    file = open(source.path, "rb", buffering=0)  # noqa: SIM115 - the window closes it
    with contextlib.ExitStack() as undo:
        undo.callback(file.close)
        window = _opened(file)
        undo.pop_all()
        return window


def _opened(file: io.FileIO) -> Window:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        return _decoded(file, file)
    if status.st_size == 0:
        return _decoded(_Capped(file), file)
    window = FileWindow(file, status.st_size)
    head = window.at(0, HEAD_SIZE)
    if compression_of(head) is not None or utf16_of(head) is not None:
        return _decoded(window, file)
    if status.st_size <= LARGEST:
        written, note = _as_it_was_written(window.at(0, status.st_size))
        if written is not None:
            file.close()
            return BytesWindow(written, window.note or note, window.complete)
    return window


def _as_it_was_written(data: bytes) -> tuple[bytes | None, str | None]:
    """``data`` as its writers wrote it, line by line from the oldest on, with a note; None where it stands so."""
    found = as_written(data) or data
    whole = joined(found)
    found = found if whole is None else whole
    found = taken_apart(found) or found
    turned = oldest_first(found)
    if turned is not None:
        return turned, NOTE
    below = output_first(found)
    if below is not None:
        return below, REPORTED
    return None if found is data else found, None if whole is None else WHOLE


class _Capped:
    """The beginning of a file that states no size, so that none is read for ever."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._left = UNSIZED_LIMIT
        self.note: str | None = None
        self.complete = True

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(min(size if size >= 0 else _CHUNK, self._left + 1)) or b""
        if len(data) > self._left:
            data = data[: self._left]
            self.note = f"only the first {UNSIZED_LIMIT >> 20} MiB of a file that states no size were read"
            self.complete = False
        self._left -= len(data)
        return data


def _decoded(raw: ByteStream, owned: io.FileIO | None = None) -> StreamWindow:
    parts: list[_Part] = [raw] if isinstance(raw, FileWindow | _Capped) else []
    stream = _Rewound(raw)
    kind = compression_of(stream.peek(16))
    if kind is not None:
        inflater = Inflater(stream, kind)
        parts.append(inflater)
        stream = _Rewound(inflater)
    encoding = utf16_of(stream.peek(HEAD_SIZE))
    final: ByteStream = stream if encoding is None else Utf16Reader(stream, encoding)
    return StreamWindow(final, tuple(parts), owned)
