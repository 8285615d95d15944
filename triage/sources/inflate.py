"""Decompression as a stream: bounded memory, and truncated or damaged archives give what they hold."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from triage.model import ByteStream

_INPUT = 64 << 10
_ZSTANDARD_INPUT = 256
"""Input per step where the decoder can't be told how much to put out: 4 bytes can become 128 KiB."""
_XZ_MEMORY = 256 << 20
"""Memory an xz archive may ask for; ``xz -9`` asks for 65 MiB."""

_MAGIC: tuple[tuple[str, bytes], ...] = (
    ("gzip", b"\x1f\x8b\x08"),
    ("xz", b"\xfd7zXZ\x00"),
    ("zstd", b"\x28\xb5\x2f\xfd"),
)
_BZIP2_BLOCKS = (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90")
_LONGEST_MAGIC = 10


class DecoderMissingError(Exception):
    """No decoder for this kind of archive is installed; ``str()`` says what to do."""


def compression_of(head: bytes) -> str | None:
    """The kind of archive that begins with ``head``: gzip, bzip2, xz, zstd, or None."""
    for kind, magic in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:3] == b"BZh" and head[3:4] in b"123456789" and head[4:10] in _BZIP2_BLOCKS:
        return "bzip2"
    # a skippable frame, as parallel compressors put first: magic 0x184D2A50 to 0x184D2A5F
    if len(head) >= 8 and head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50:
        return "zstd"
    return None


class _Member(Protocol):
    """Decodes one compressed stream, several of which may follow each other in one archive."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Inflater:
    """A readable stream of what an archive holds.

    It never raises for a truncated or damaged archive: the stream ends and ``note`` says why;
    ``complete`` is then False. Errors of ``raw`` pass through.
    """

    def __init__(self, raw: ByteStream, kind: str) -> None:
        """Decode ``raw``, an archive of ``kind`` as :func:`compression_of` names it.

        Raises:
            DecoderMissingError: when the decoder is not installed.
        """
        self._raw = raw
        self._kind = kind
        self._new, self._errors = _decoder(kind)
        self._member = self._new()
        self._input = b""
        self._ended = False
        self.complete = True
        self.note: str | None = None

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at least one and at most ``size`` (64 KiB if negative); empty at the end."""
        size = size if size > 0 else _INPUT
        while not self._ended:
            if self._member.eof and not self._next_member():
                break
            if self._member.needs_input and not self._input:
                self._input = self._raw.read(_INPUT)
                if not self._input:
                    self._fail(f"the {self._kind} archive is truncated: what it still holds was read")
                    break
            feed, self._input = self._input, b""
            try:
                out = self._member.decompress(feed, size)
            except self._errors as error:
                self._fail(f"the {self._kind} archive is damaged ({error}): what comes after is lost")
                break
            if out:
                return out
        return b""

    def _fail(self, note: str) -> None:
        self.note = note
        self.complete = False
        self._ended = True

    def _next_member(self) -> bool:
        """Begin with the stream that follows the one just finished, if one does."""
        rest = self._member.unused_data + self._input
        while len(rest := rest.lstrip(b"\0")) < _LONGEST_MAGIC:
            more = self._raw.read(_INPUT)
            if not more:
                break
            rest += more
        if compression_of(rest) == self._kind:
            self._member, self._input = self._new(), rest
            return True
        if rest:
            self.note = f"bytes after the end of the {self._kind} archive were ignored"
        self._ended = True
        return False


def _decoder(kind: str) -> tuple[Callable[[], _Member], tuple[type[Exception], ...]]:
    if kind == "gzip":
        zlib = import_module("zlib")
        return lambda: _Gzip(zlib), (zlib.error,)
    if kind == "bzip2":
        return import_module("bz2").BZ2Decompressor, (OSError, ValueError)
    if kind == "xz":
        lzma = import_module("lzma")
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), (lzma.LZMAError,)
    return _zstd_decoder()


def _zstd_decoder() -> tuple[Callable[[], _Member], tuple[type[Exception], ...]]:
    try:
        zstd = import_module("compression.zstd")  # Python 3.14
        return zstd.ZstdDecompressor, (zstd.ZstdError,)
    except ImportError:
        pass
    try:
        zstandard = import_module("zstandard")
    except ImportError:
        raise DecoderMissingError(
            "it is zstd-compressed and no decoder is installed: "
            "pip install 'triage-gpu[zst]', or unpack it with zstd -d"
        ) from None
    return lambda: _Zstandard(zstandard), (zstandard.ZstdError,)


class _Gzip:
    """One gzip member."""

    def __init__(self, zlib: Any) -> None:
        self._zlib = zlib
        self._decoder = zlib.decompressobj(31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data)

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        before = self._decoder.copy()
        feed = self._decoder.unconsumed_tail + data
        try:
            out: bytes = self._decoder.decompress(feed, max_length)
        except self._zlib.error:
            # a wrong checksum must not cost what was decoded along with it
            out = _decodable(before, feed, max_length, self._zlib.error)
            if not out:
                raise
            self._decoder = _Broken(self._zlib.error)
        self.needs_input = not self._decoder.unconsumed_tail and len(out) < max_length
        return out


class _Broken:
    """Stands in for a decoder that has failed: fails again when it is asked for more."""

    eof = False
    unconsumed_tail = b"\0"
    unused_data = b""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error

    def copy(self) -> _Broken:
        return self

    def decompress(self, _data: bytes, _max_length: int) -> bytes:
        raise self._error("wrong data or checksum")


def _decodable(decoder: Any, feed: bytes, max_length: int, error: type[Exception]) -> bytes:
    """What can be decoded of ``feed`` before it fails."""
    out = bytearray()
    try:
        for value in feed:
            out += decoder.decompress(bytes((value,)), max_length)
            if len(out) >= max_length:
                break
    except error:
        pass
    return bytes(out[:max_length])


class _Zstandard:
    """One zstd frame, by the ``zstandard`` package, which can't be told how much to put out."""

    def __init__(self, zstandard: Any) -> None:
        self._decoder = zstandard.ZstdDecompressor().decompressobj()
        self._input = b""
        self._at = 0
        self._output = b""
        self._given = 0

    @property
    def _pending(self) -> bool:
        return self._given < len(self._output)

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof) and not self._pending

    @property
    def needs_input(self) -> bool:
        return not self._pending and self._at >= len(self._input) and not self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data) + self._input[self._at :]

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        if data:
            self._input, self._at = self._input[self._at :] + data, 0
        if not self._pending:
            self._output, self._given = self._more(max_length), 0
        out = self._output[self._given : self._given + max_length]
        self._given += len(out)
        return out

    def _more(self, wanted: int) -> bytes:
        pieces: list[bytes] = []
        have = 0
        while have < wanted and self._at < len(self._input) and not self._decoder.eof:
            piece = self._input[self._at : self._at + _ZSTANDARD_INPUT]
            self._at += len(piece)
            pieces.append(self._decoder.decompress(piece))
            have += len(pieces[-1])
        return b"".join(pieces)
