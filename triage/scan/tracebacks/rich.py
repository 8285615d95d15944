"""Tracebacks as the rich library draws them: a box of frames, and the exception under it."""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.lazy import Lazy
from triage.scan.tracebacks.frames import make_frame
from triage.scan.tracebacks.lines import HEADER
from triage.scan.tracebacks.model import Frame, Traceback

MAX_BOX_LINES = 2000

_TOP = Lazy(
    r"\s*[╭┌+][─━-]{2,} (?:Exception Group )?"
    + HEADER.replace("(", r"\(").replace(")", r"\)")
    + r" [─━-]{2,}"
)
_BOTTOM = Lazy(r"\s*[╰└+][─━-]{10,}[╯┘+]?\s*$")
_WALL = ("│", "|")
_FRAME = Lazy(r"(\S[^\n]{0,4000}):(\d{1,9}) in (\S[^\n]*)$")
_NUMBERED = Lazy(r"[^\n]*:\d{1,9}(?: in)?$")
_SOURCE = Lazy(r"\d+ |[│|╭╰]")
_CURRENT = Lazy(r"[❱>] *\d+ ?(.*)$")


def is_rich(line: str) -> bool:
    """Whether a box with a traceback in it begins on ``line``."""
    return _TOP.match(line, 0) is not None


def read_rich(lines: Sequence[str], start: int) -> Traceback:
    """The traceback in the box that begins on ``lines[start]``, with the exception under it."""
    from triage.scan.tracebacks.plain import read_exception

    frames: list[Frame] = []
    wrapped = ""
    at = start + 1
    while at < len(lines) and at - start < MAX_BOX_LINES:
        if _BOTTOM.match(lines[at], 0):
            at += 1
            break
        row = lines[at].strip()
        if not row.startswith(_WALL):
            break
        wrapped = _read_row(row[1:].removesuffix("│").removesuffix("|").strip(), wrapped, frames)
        at += 1
    return read_exception(lines, start, at, 0, tuple(frames), 0)


def _read_row(row: str, wrapped: str, frames: list[Frame]) -> str:
    """Take in one row of the box; what is returned is a frame's line that goes on in the next row."""
    current = _CURRENT.match(row, 0)
    if current is not None and frames:
        frame = frames[-1]
        frames[-1] = make_frame(frame.path, frame.line, frame.function, current[1].strip("│ "))
    if current is not None or _SOURCE.match(row, 0):
        return ""
    joined = f"{wrapped} {row}" if _NUMBERED.match(wrapped, 0) else wrapped + row
    found = _FRAME.match(joined, 0)
    if found is not None:
        frames.append(make_frame(found[1], int(found[2]), found[3]))
        return ""
    # only a frame's line wraps, and it begins with its path
    return joined if row and (wrapped or row.startswith("/")) and len(joined) < 4000 else ""
