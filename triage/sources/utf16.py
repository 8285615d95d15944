"""UTF-16 logs, as PowerShell redirection and some vendor tools write them, read as UTF-8."""

from __future__ import annotations

import codecs

from triage.model import ByteStream

_PRINTABLE = frozenset(range(0x20, 0x7F)) | {0x09, 0x0A, 0x0D, 0x1B}
_SAMPLE = 4 << 10
_ENOUGH = 16
_CHUNK = 64 << 10


def utf16_of(head: bytes) -> str | None:
    """``utf-16-le`` or ``utf-16-be`` when ``head`` begins such a text, else None.

    Without a byte order mark, nearly every other byte has to be NUL and its neighbour plain ASCII.
    """
    if head.startswith(codecs.BOM_UTF32_LE):
        return None
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = head[: min(_SAMPLE, len(head) & ~1)]
    if len(sample) < _ENOUGH or b"\0" not in sample:
        return None
    even, odd = sample[::2], sample[1::2]
    for text, padding, name in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        if padding.count(0) >= 0.9 * len(padding) and _is_ascii(text):
            return name
    return None


def _is_ascii(text: bytes) -> bool:
    return sum(value in _PRINTABLE for value in text) >= 0.9 * len(text)


class Utf16Reader:
    """A readable stream of UTF-8 from one of UTF-16; what can't be decoded becomes U+FFFD."""

    def __init__(self, raw: ByteStream, encoding: str) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._first = True
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, about ``size`` of them (at most half as many again); empty at the end."""
        size = max(2, size) if size > 0 else _CHUNK
        while not self._ended:
            data = self._raw.read(size)
            self._ended = not data
            text = self._decoder.decode(data, self._ended)
            if self._first and text:
                self._first = False
                text = text.removeprefix("\ufeff")
            if text:
                return text.encode("utf-8", "replace")
        return b""
