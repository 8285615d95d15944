"""Tracebacks that processes wrote into each other: the name of the exception stands on a line of its own, below all heads.

From Python 3.11 on a traceback is written piece by piece, and processes that fail in the same moment share one
standard error: none of their tracebacks can be read whole, but the last of them to end mostly ends in peace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.job import Item
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_EXCEPTION, _MENTION = "python.exception", "progress.mention"
_LAST_LINE = r"[ ^~]*(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (?P<message>\S.*)"
FEWEST = 2
"""Tracebacks without an end that show that they are woven into each other; a single one was cut."""
_OF_LAUNCHERS = ("ChildFailedError", "CalledProcessError", "ProcessExitedException", "SignalException")
_DIGITS = r"\d+"
_LINE_END = 2
"""Bytes that end a line, on any system."""


def rejoined(items: Sequence[Item]) -> list[Item]:
    """``items``, of which exceptions that lost their ends in one source have the one that stands alone below them."""
    broken: dict[tuple[int, str], list[Item]] = defaultdict(list)
    whole: set[tuple[int, str]] = set()
    for item in items:
        if item.rule.id != _EXCEPTION:
            continue
        writer = (item.finding.source, item.finding.stream)
        name = item.text("type")
        if name is None:
            broken[writer].append(item)
        elif not name.endswith(_OF_LAUNCHERS):
            whole.add(writer)
    ends = {
        id(item): end
        for writer, torn in broken.items()
        if writer not in whole and sum(i.finding.count for i in torn) >= FEWEST
        and (end := _end(items, writer, min(i.finding.offset for i in torn))) is not None
        for item in torn
    }  # fmt: skip
    if not whole:
        told_above = {
            id(item): end
            for torn in broken.values()
            for item in torn
            if (end := _right_above(items, item)) is not None
        }
        ends = told_above | ends
    return [_joined(item, *ends[id(item)]) if id(item) in ends else item for item in items]


def _right_above(items: Sequence[Item], torn: Item) -> tuple[Item, str, str] | None:
    """The last line of the traceback that ends where a broken one begins.

    Python's own hook prints an exception before torch's prints it again, under the rank; of a log whose head and tail
    were cut off, the end of the one and the beginning of the other are left.
    """
    begin = torn.number("_begin")
    for item in items:
        if begin is None or item.rule.id != _MENTION or item.finding.source != torn.finding.source:
            continue
        if item.finding.stream == torn.finding.stream:
            continue  # not the hook's line, which no rank stands before, but a message above the stack that it carries
        first, last = item.finding.evidence[0], item.finding.evidence[-1]
        for offset, shown in ((item.finding.offset, first), (item.at_last.offset, last)):
            end = compiled(_LAST_LINE).fullmatch(split_line(shown.text)[1])
            if 0 < begin - offset <= len(shown.text.encode()) + _LINE_END and end is not None:
                return item, end["type"], end["message"]
    return None


def _end(items: Sequence[Item], writer: tuple[int, str], below: int) -> tuple[Item, str, str] | None:
    """The one line below an offset that names an exception as the last line of a traceback does; None of several."""
    found: dict[tuple[str, str], tuple[Item, str, str]] = {}
    for item in items:
        shown = item.finding
        if item.rule.id != _MENTION or (shown.source, shown.stream) != writer or shown.offset < below:
            continue
        for evidence in shown.evidence:
            last = compiled(_LAST_LINE).fullmatch(split_line(evidence.text)[1])
            if last is not None and not last["type"].endswith(_OF_LAUNCHERS):
                words = compiled(_DIGITS).sub("0", last["message"])
                found.setdefault((last["type"], words), (item, last["type"], last["message"]))
    return next(iter(found.values())) if len(found) == 1 else None


def _joined(item: Item, end: Item, name: str, message: str) -> Item:
    shown, last = item.finding, end.finding
    fields = {**shown.fields, "type": name, "message": message, "_end": end.at_last.offset}
    return item._replace(
        finding=replace(shown, fields=fields, evidence=(*last.evidence[:1], *shown.evidence))
    )
