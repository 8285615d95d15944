"""Python exceptions out of the lines of one writer.

Lines come without their prefixes. Which lines belong together, when those of many ranks
interleave, is decided before (:class:`triage.scan.prefix.Continuation`).
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.lazy import Lazy
from triage.scan.tracebacks.doing import activity
from triage.scan.tracebacks.frames import make_frame
from triage.scan.tracebacks.lines import HEADER, is_header
from triage.scan.tracebacks.model import Fault, Frame, FrameKind, Traceback
from triage.scan.tracebacks.plain import read_chain

__all__ = [
    "HEADER",
    "Fault",
    "Frame",
    "FrameKind",
    "Traceback",
    "activity",
    "fatal",
    "parse_faulthandler",
    "parse_traceback",
]

MAX_FAULT_LINES = 2000

_FATAL = Lazy(
    r".{0,400}?(?:Fatal Python error: *(.*)|Windows fatal exception: ((?:access violation|stack overflow|page error"
    r"|(?:float|int|integer) (?:divide by zero|overflow))\b.*))$"
)
"""Other exceptions of Windows that ``faulthandler`` shows are caught by whom they are meant for."""
_THREAD = Lazy(r"(Current thread|Thread) 0x[0-9a-fA-F]+(?: \[[^\]\n]{0,64}\])? \(most recent call first\):")
_FAULT_FRAME = Lazy(r' *File "([^"\n]{1,4096})", line (\d{1,9}|\?\?\?) in ([^\n]{1,500})$')


def parse_traceback(lines: Sequence[str], start: int) -> Traceback | None:
    """The exception whose traceback begins on ``lines[start]``; None when none begins there.

    What begins one: ``Traceback (most recent call last):`` alone or after other text, the top of an
    exception group, the top of a box drawn by rich, or Ray's ``ray::task() (pid=…)``. Tracebacks that
    follow from it ("During handling …", "The above exception was the direct cause …") are read as
    well: the last is returned, its ``chain`` holds the others, and also what messages quote (data
    loader workers, spawned processes, Ray tasks). A message ends with a blank line or where
    something else clearly begins, after 60 lines at the latest.

    Never raises, whatever the text. Time is linear in the number of lines.
    """
    if not 0 <= start < len(lines) or not is_header(lines[start]):
        return None
    return read_chain(lines, start)


def fatal(line: str) -> str | None:
    """What the interpreter died of, where ``line`` is the first that ``faulthandler`` prints of it."""
    found = _FATAL.match(line, 0)
    return None if found is None else (found[1] or found[2] or "").strip()


def parse_faulthandler(lines: Sequence[str], start: int) -> Fault | None:
    """What ``faulthandler`` printed from ``Fatal Python error:`` on ``lines[start]`` on; None elsewhere.

    The frames are those of the thread that died, or of the only one shown.
    """
    error = fatal(lines[start]) if 0 <= start < len(lines) else None
    if error is None:
        return None
    threads: list[tuple[bool, list[Frame]]] = []
    at = end = start + 1
    while at < min(len(lines), start + MAX_FAULT_LINES):
        line = lines[at]
        thread = _THREAD.match(line, 0)
        frame = _FAULT_FRAME.match(line, 0) if threads else None
        if thread is not None:
            threads.append((thread[1] == "Current thread", []))
        elif frame is not None:
            number = int(frame[2]) if frame[2].isdecimal() else None
            threads[-1][1].append(make_frame(frame[1], number, frame[3].strip()))
        elif line.strip() and not line.startswith((" ", "Python runtime state", "Extension modules")):
            break
        at += 1
        if line.strip():
            end = at
    current = next((frames for is_current, frames in threads if is_current), None)
    frames = current if current is not None else (threads[0][1] if threads else [])
    return Fault(error, tuple(frames), start, end)
