"""Taking out of log text whatever could drive a terminal or hide something from its reader."""

from __future__ import annotations

import re
from functools import cache

_INVISIBLE = (
    "\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""Zero-width characters, bidi controls, fillers, variation selectors and tags."""

_UNSAFE = rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff{_INVISIBLE}]"

_ESCAPE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    # OSC, DCS, SOS, PM, APC: titles, hyperlinks, clipboard; only when terminated on the same line
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\n\x80-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,2}[0-~]?"  # other escapes, and the lone ESC
)

_REPLACEMENT = "\ufffd"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(_UNSAFE),
        re.compile(_ESCAPE),
        re.compile(r"\r+\n|\r"),
        # NUL bytes fill what a crashed node never wrote; bells and backspaces come from progress bars
        re.compile(rf"[\x00\x07\x08\x0e\x0f{_INVISIBLE}]+"),
    )


def sanitize(text: str) -> str:
    """``text`` with tabs and line feeds as its only control characters.

    Escape sequences, zero-width characters and bidi controls are removed, carriage returns become
    line feeds, other control characters and lone surrogates show as U+FFFD. Idempotent.
    """
    if text.isascii() and text.isprintable():
        return text
    unsafe, escape, carriage, dropped = _patterns()
    if unsafe.search(text) is None:
        return text
    text = escape.sub("", text)
    text = carriage.sub("\n", text)
    text = dropped.sub("", text)
    return unsafe.sub(lambda found: " " if found[0] in "\u2028\u2029" else _REPLACEMENT, text)
