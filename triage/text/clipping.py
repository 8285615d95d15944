"""Bounding the length of text without losing its beginning, its end or what matters in between."""

from __future__ import annotations

LIMIT = 4096
"""Bytes of UTF-8 that a piece of evidence may have."""

_HEAD = 0.7
"""Share of the room that the beginning gets when nothing in particular must be kept."""
_MARKER = " …[{} bytes]… "
_RESERVED = 48
"""Bytes kept free for a marker: its text, and what masking a cut piece anew may add."""


def clip(text: str, limit: int = LIMIT, keep: tuple[int, int] | None = None) -> str:
    """``text`` in at most ``limit`` bytes of UTF-8: `` …[812 bytes]… `` stands for what was cut out.

    The cut spares ``text[keep[0]:keep[1]]`` as far as ``limit`` allows. ``limit`` is at least 256.
    """
    return clip_span(text, keep, limit)[0]


def clip_span(
    text: str, span: tuple[int, int] | None, limit: int = LIMIT
) -> tuple[str, tuple[int, int] | None]:
    """As :func:`clip`, and where ``span`` is in the result; None when it was cut into."""
    limit = max(limit, 256)
    if len(text) * 4 <= limit:
        return text, span
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return text, span
    start, end = (0, 0) if span is None else (_bytes(text[: span[0]]), _bytes(text[: span[1]]))
    pieces = [(_aligned(raw, a), _aligned(raw, b)) for a, b in _pieces(len(raw), start, end, limit)]
    return _joined(raw, pieces, (start, end) if span else None)


def _pieces(size: int, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """The byte ranges to keep, in order, for the range ``start:end`` to survive if it can."""
    room = limit - _RESERVED
    head = int(room * _HEAD)
    tail = room - head
    if end <= head or start >= size - tail:
        return [(0, head), (size - tail, size)]
    room -= _RESERVED
    if end - start >= room:
        # too long itself: its two ends
        return [(start, start + int(room * _HEAD)), (end - (room - int(room * _HEAD)), end)]
    spare = room - (end - start)
    # half of what is left shows the surroundings, the rest the two ends of the text
    left, right = max(0, start - spare // 4), min(size, end + spare // 4)
    ranges = [(0, spare // 4), (left, right), (size - spare // 4, size)]
    merged: list[tuple[int, int]] = []
    for low, high in ranges:
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _joined(
    raw: bytes, pieces: list[tuple[int, int]], span: tuple[int, int] | None
) -> tuple[str, tuple[int, int] | None]:
    shown: list[str] = []
    length = 0
    moved = None
    position = 0
    for low, high in [*pieces, (len(raw), len(raw))]:
        if low > position:
            marker = _MARKER.format(low - position)
            shown.append(marker)
            length += len(marker)
        if span is not None and low <= span[0] and span[1] <= high:
            first = length + _characters(raw[low : span[0]])
            moved = (first, first + _characters(raw[span[0] : span[1]]))
        piece = raw[low:high].decode("utf-8", "surrogatepass")
        shown.append(piece)
        length += len(piece)
        position = high
    return "".join(shown), moved


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _characters(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogatepass"))


def _aligned(raw: bytes, position: int) -> int:
    """``position``, moved back to where a character begins."""
    while 0 < position < len(raw) and raw[position] & 0xC0 == 0x80:
        position -= 1
    return position
