"""Tracebacks as IPython prints them in notebooks: the exception's name first, its message last."""

from __future__ import annotations

from collections.abc import Sequence

from triage.scan.lazy import Lazy
from triage.scan.tracebacks.frames import make_frame
from triage.scan.tracebacks.lines import HEADER, is_header
from triage.scan.tracebacks.model import Frame, Traceback

MAX_LINES = 2000

_TOP = Lazy(r"((?:\w+\.)*[A-Za-z_]\w*) {2,}" + HEADER.replace("(", r"\(").replace(")", r"\)") + r"\s*$")
_FRAME = Lazy(
    r"(?:(?:Cell|Input) In ?\[\d+\](?:, line (?P<cell>\d{1,9}))?|File (?P<file>\S[^\n]{0,4000}?):(?P<line>\d{1,9}))"
    r"(?:, in (?P<function>[^\n(]{1,300})[^\n]*)?\s*$"
)
_OLD_FRAME = Lazy(r"(?P<file>[~/<\w][^\n]{0,4000}?) in (?P<function>[\w.<>]+)(?:\([^\n]*\)?)?\s*$")
_SOURCE = Lazy(r"-+> *(\d{1,9}) ?(.*)$")
_NUMBERED = Lazy(r" *\d{1,9}(?: |$)|\s*$|\s*\(\.\.\.\)$| {4}")


def is_notebook(line: str) -> bool:
    """Whether a notebook's traceback begins on ``line``."""
    return _TOP.match(line, 0) is not None


def read_notebook(lines: Sequence[str], start: int) -> Traceback:
    """The traceback that begins on ``lines[start]``: its frames, and the exception that the header names."""
    from triage.scan.tracebacks.plain import read_exception

    top = _TOP.match(lines[start], 0)
    name = top[1].rpartition(".")[2] if top is not None else ""
    frames: list[Frame] = []
    at = start + 1
    while at < len(lines) and at - start < MAX_LINES:
        line = lines[at]
        if _names(line, name):
            return read_exception(lines, start, at, 0, tuple(frames), 0)
        if is_header(line):
            break
        _read_line(line, frames)
        at += 1
    return Traceback(tuple(frames), None, "", start, start + 1)


def _names(line: str, name: str) -> bool:
    """Whether ``line`` is where the exception called ``name`` says its message."""
    head, colon, _ = line.partition(":")
    return head.strip(" ").rpartition(".")[2] == name and (bool(colon) or head == line)


def _read_line(line: str, frames: list[Frame]) -> None:
    current = _SOURCE.match(line, 0)
    if current is not None:
        if frames:
            last = frames[-1]
            frames[-1] = make_frame(
                last.path, last.line or int(current[1]), last.function, current[2].strip()
            )
        return
    if _NUMBERED.match(line, 0):
        return
    found = _FRAME.match(line, 0)
    if found is not None:
        number = found["cell"] or found["line"]
        path = found["file"] or "<ipython-input>"
        frames.append(
            make_frame(path, int(number) if number else None, (found["function"] or "<module>").strip())
        )
        return
    found = _OLD_FRAME.match(line, 0)
    if found is not None:
        frames.append(make_frame(found["file"], None, found["function"]))
