"""Where an exception's message ends because its program counts on what it had counted before.

Python sets nothing between a message of several lines and what is printed below it. Work that is counted above a
traceback and goes on to be counted below it, in the same words, is no part of the message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.scan.counting import CODE, WORDS, counts_of, counts_on
from triage.scan.tracebacks.model import Traceback

REACH = 8 << 10
"""Bytes above a traceback in which its program may have counted."""
_BEFORE = 2
"""Times that something must have been counted already."""


def without_work(found: Traceback, rows: Sequence[str], above: bytes) -> Traceback:
    """``found`` without the lines of its message in which something is counted on that was counted ``above`` it.

    Args:
        rows: the lines of the traceback as they stand in the log.
        above: what stands before them.
    """
    first = found.message_line
    lines = found.message.split("\n")
    if first is None or found.end - first != len(lines) or len(lines) < 2:
        return found
    counted: dict[str, list[list[float]]] = defaultdict(list)
    for text in above[-REACH:].decode("utf-8", "replace").splitlines():
        told = _counts(text)
        if told is not None:
            counted[told[0]].append(told[1])
    for place in range(1, len(lines)):
        told = _counts(rows[first + place])
        past = counted.get(told[0], []) if told is not None else []
        if told is not None and len(past) >= _BEFORE and counts_on(past, [told[1]]):
            return replace(found, message="\n".join(lines[:place]), end=first + place)
    return found


def _counts(text: str) -> tuple[str, list[float]] | None:
    return None if CODE.match(text) or WORDS.search(text) is None else counts_of(text)
