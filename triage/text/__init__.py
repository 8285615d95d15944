"""What makes log text safe to show: control characters out, secrets masked, length bounded.

``safe`` is the whole treatment and the door that everything shown should go through; it is idempotent.
"""

from __future__ import annotations

from triage.text.clipping import LIMIT, clip, clip_span
from triage.text.masking import MASK, mask
from triage.text.names import is_secret_name
from triage.text.sanitizing import sanitize

__all__ = ["LIMIT", "MASK", "clip", "is_secret_name", "mask", "safe", "safe_span", "sanitize"]

_ROUNDS = 4
"""A cut can make a piece look like a new secret, so text that was cut is treated again, this often."""


def safe(text: str, limit: int = LIMIT) -> str:
    """``text`` without control characters and secrets, at most ``limit`` bytes of UTF-8."""
    return safe_span(text, None, limit)[0]


def safe_span(
    text: str, span: tuple[int, int] | None, limit: int = LIMIT
) -> tuple[str, tuple[int, int] | None]:
    """As :func:`safe`, and where the decisive characters ``text[span[0]:span[1]]`` went.

    A cut spares them as far as ``limit`` allows. The span is None when they did not survive.
    """
    for _ in range(_ROUNDS):
        shown = mask(sanitize(text))
        span = _moved(text, shown, span)
        cut, span = clip_span(shown, span, limit)
        if cut == shown:
            return cut, span
        text = cut
    return cut, span


def _moved(before: str, after: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
    if span is None or not 0 <= span[0] < span[1] <= len(before):
        return None
    if before == after:
        return span
    decisive = mask(sanitize(before[span[0] : span[1]]))
    if not decisive:
        return None
    start = len(mask(sanitize(before[: span[0]])))
    if not after.startswith(decisive, start):
        start = after.find(decisive)
    return (start, start + len(decisive)) if start >= 0 else None
