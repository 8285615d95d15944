"""Showing a piece of evidence on a terminal: its lines, wrapped, the decisive characters marked."""

from __future__ import annotations

import re
from typing import NamedTuple

from triage.model import Evidence
from triage.report.layout import Page, Part, breaks, cells

_HANGING = 2
"""Columns by which the continuation of a wrapped log line is indented."""
_LONGEST = 80
"""Characters that are marked at most: of a longer decisive part its first clauses."""
_SHORTEST = 15


class _Row(NamedTuple):
    text: str
    margin: int
    mark: tuple[int, int] | None
    """Range of the decisive characters within ``text``."""


def show(page: Page, evidence: Evidence, indent: int, limit: int | None) -> None:
    """Put ``evidence`` on the page: where it is from, then its text in at most ``limit`` rows.

    What is left out for ``limit`` is the part farthest from the decisive characters. They are shown
    in colour, or underlined where there is none.
    """
    line = "" if evidence.line is None else f":{evidence.line}"
    page.paragraph((f"{evidence.path}{line}", "path"), indent=indent)
    text = evidence.text.rstrip("\n")
    span = _pointed(text, evidence.span)
    rows = _rows(text, span, page.width - indent - 2)
    kept = _kept(rows, limit)
    previous = -1
    for number in kept:
        if number > previous + 1:
            _gap(page, indent, number - previous - 1)
        _put(page, rows[number], indent + 2)
        previous = number
    if len(rows) > previous + 1:
        _gap(page, indent, len(rows) - previous - 1)


def _pointed(text: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
    """The part of ``span`` to point at: its first clauses when it is long, nothing when it is all."""
    if span is None or not 0 <= span[0] < span[1]:
        return None
    start, end = span[0], min(span[1], len(text))
    if _takes_whole_lines(text, start, end):
        return None  # the lines decide together, and none of them more than the others
    if end - start > _LONGEST:
        clauses = [
            found.start() for found in re.finditer(r"[.,:;?!](?=\s)|\n", text[start : start + _LONGEST])
        ]
        space = text.rfind(" ", start, start + _LONGEST)
        end = start + clauses[-1] if clauses and clauses[-1] > _SHORTEST else max(space, start + _SHORTEST)
    return None if text[start:end].strip() == text.strip() else (start, end)


def _takes_whole_lines(text: str, start: int, end: int) -> bool:
    """Whether what decides takes whole lines of several, from the first on."""
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")
    return "\n" in text.strip() and not before.strip() and not after[0].strip()


def _gap(page: Page, indent: int, rows: int) -> None:
    page.row((" " * (indent + 2), ""), (f"… {rows} more row{'s' if rows > 1 else ''}", "faint"))


def _rows(text: str, span: tuple[int, int] | None, width: int) -> list[_Row]:
    rows: list[_Row] = []
    offset = 0
    for line in text.split("\n"):
        shown, marks = _expanded(line, None if span is None else (span[0] - offset, span[1] - offset))
        for number, (start, end) in enumerate(breaks(shown, width, width - _HANGING)):
            low, high = (max(marks[0], start), min(marks[1], end)) if marks else (0, 0)
            mark = (low - start, high - start) if high > low else None
            rows.append(_Row(shown[start:end], _HANGING if number else 0, mark))
        offset += len(line) + 1
    return rows


def _expanded(line: str, span: tuple[int, int] | None) -> tuple[str, tuple[int, int] | None]:
    """``line`` with four spaces for a tab, and where ``span``, cut to the line, went."""
    if span is not None:
        low, high = max(0, min(span[0], len(line))), max(0, min(span[1], len(line)))
        span = (low + 3 * line.count("\t", 0, low), high + 3 * line.count("\t", 0, high))
    return line.replace("\t", "    ").rstrip(" "), span


def _kept(rows: list[_Row], limit: int | None) -> list[int]:
    """The numbers of the rows to show: all, or the first and those nearest to the decisive ones."""
    if limit is None or len(rows) <= limit:
        return list(range(len(rows)))
    marked = [number for number, row in enumerate(rows) if row.mark]
    # without a mark the end decides, where a traceback names the exception; a message that goes on for
    # long has said it at its beginning
    message = len(rows) > 2 * limit and "Traceback" not in rows[0].text
    focus = marked[0] if marked else 0 if message else len(rows) - 1
    start = max(0, min(focus - (limit - 1) // 3, len(rows) - (limit - 1)))
    return sorted({0, *range(start, start + limit - 1)}) if start else list(range(limit))


def _put(page: Page, row: _Row, indent: int) -> None:
    margin: Part = (" " * (indent + row.margin), "")
    if row.mark is None:
        page.row(margin, (row.text, ""))
        return
    low, high = row.mark
    before, decisive, after = row.text[:low], row.text[low:high], row.text[high:]
    page.row(margin, (before, ""), (decisive, "mark"), (after, ""))
    if not page.color:
        page.row(margin, (" " * cells(before) + "^" * cells(decisive), ""))
