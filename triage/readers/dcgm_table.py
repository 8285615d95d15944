"""The two-column tables of ``dcgmi``: diagnostics and health reports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triage.readers.capture import Line

TITLE = re.compile(r"\|\s*(?:Diagnostic\s*\|\s*Result|Health Monitor Report|Overall Health)\s*\|?")
CATEGORY = re.compile(r"[|+]-{3,}\s+(?P<name>[A-Z][\w ]*?)\s+-{3,}\+")
_ROW = re.compile(r"\|(?P<left>[^|]*)\|(?P<right>.*)\|\s*$")
_STATUS = re.compile(
    r"(?P<status>Pass|Fail|Skip|Warn|Warning|Failure|Healthy)\b(?:\s*-\s*(?P<who>.*))?$", re.I
)
_GPU = re.compile(r"\bGPU(?:s|ID)?:?\s*#?(\d{1,3})\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d{1,3}")


@dataclass(slots=True)
class Result:
    """The outcome of one test or one health area.

    ``status`` is pass, fail, warn or skip. ``gpus`` are those that the outcome is about, empty when
    the output names none; ``messages`` are the warnings that follow it.
    """

    test: str
    status: str
    lines: list[Line]
    category: str | None = None
    gpus: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def blame(self, text: str) -> None:
        """Take the GPUs that a message names."""
        for match in _GPU.finditer(text):
            number = int(match[1])
            if number not in self.gpus:
                self.gpus.append(number)


def status_of(text: str) -> str | None:
    """pass, fail, warn or skip, None when ``text`` states no outcome."""
    match = _STATUS.match(text.strip())
    if match is None:
        return None
    word = match["status"].lower()
    return {"failure": "fail", "warning": "warn", "healthy": "pass"}.get(word, word)


def results(lines: Sequence[Line]) -> list[Result]:
    """All outcomes of the tables in ``lines``."""
    return list(_results(lines))


def _results(lines: Sequence[Line]) -> Iterator[Result]:
    current: Result | None = None
    category: str | None = None
    inside = False
    gpu: int | None = None
    for line in lines:
        if TITLE.search(line.text):
            inside = True
        if not inside or not any(mark in line.text for mark in "|+"):
            inside = False
            continue
        heading = CATEGORY.search(line.text)
        if heading:
            category = heading["name"].strip()
            continue
        row = _ROW.search(line.text)
        if row is None:
            continue
        left, right = row["left"].strip(), row["right"].strip()
        if left.startswith("-> ") and left[3:].strip().isdigit() and len(left) < 8:
            gpu = int(left[3:])
        status = status_of(right)
        name = left.lstrip("-> ").strip()
        if status is not None and name and not name.isdigit() and not name.lower().startswith("warning"):
            if current is not None:
                yield current
            current = Result(name, status, [line], category)
            _named(current, right, gpu if left.startswith("->") else None)
        elif current is not None:
            _continue(current, line, left, right)
    if current is not None:
        yield current


def _named(result: Result, right: str, gpu: int | None) -> None:
    match = _STATUS.match(right)
    who = match["who"] if match else None
    if who and who.lower().startswith("gpu"):
        result.gpus.extend(int(number) for number in _NUMBERS.findall(who)[:64])
    if gpu is not None:
        result.gpus.append(gpu)


def _continue(result: Result, line: Line, left: str, right: str) -> None:
    """Rows below an outcome: its GPUs one by one, its warnings, and wrapped text."""
    if len(result.lines) < 40:
        result.lines.append(line)
    each = re.match(r"GPU(\d{1,3}):\s*(Pass|Fail|Skip|Warn)", right)
    if each:
        if each[2] in {"Fail", "Warn"} and int(each[1]) not in result.gpus:
            result.gpus.append(int(each[1]))
        return
    if left.lower().startswith("warning"):
        result.messages.append(right)
        result.blame(left)
    elif not left and right and result.messages:
        result.messages[-1] += " " + right
    elif not left and right:
        result.messages.append(right)
    if right:
        result.blame(right)
