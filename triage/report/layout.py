"""A page of styled text for a terminal: wrapping, indentation, colour, columns.

What goes onto a page has been through :func:`triage.report.cleaning.clean`, so whatever a log says can
neither drive the terminal nor show a secret; nothing on a page is read as markup. Colour is written as
the sixteen-colour codes that every terminal knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

Style = Literal["", "strong", "faint", "bad", "good", "odd", "path", "command", "mark"]
Part = tuple[str, Style]

_CODES: dict[Style, str] = {
    "strong": "1",
    "faint": "2",
    "bad": "1;31",
    "good": "1;32",
    "odd": "1;33",
    "path": "36",
    "command": "32",
    "mark": "1;31",
}

MIN_WIDTH = 40
_MEASURE = 100
"""Columns that running text uses at most: longer lines are hard to read."""


def cells(text: str) -> int:
    """How many columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(2 if east_asian_width(c) in "WF" else 0 if combining(c) else 1 for c in text)


def breaks(text: str, first: int, rest: int) -> list[tuple[int, int]]:
    """Where to break ``text``: the character range of each row, spaces at the breaks left out.

    ``first`` and ``rest`` are the columns of the first row and of the others. Words that are too
    long are broken; leading spaces of the first row stay.
    """
    rows: list[tuple[int, int]] = []
    start = 0
    room = first
    while True:
        end = _reach(text, start, max(room, 2))
        if end >= len(text):
            rows.append((start, len(text)))
            return rows
        indent = len(text) - len(text[start:].lstrip(" ")) if not rows else start
        space = text.rfind(" ", indent, end + 1)
        if space > indent:
            end = space
        rows.append((start, start + len(text[start:end].rstrip(" "))))
        start = end + len(text[end:]) - len(text[end:].lstrip(" "))
        if start >= len(text):
            return rows
        room = rest


def _reach(text: str, start: int, room: int) -> int:
    """The end of the longest piece from ``start`` that fits into ``room`` columns."""
    end = min(len(text), start + room)
    while end > start + 1 and cells(text[start:end]) > room:
        end -= max(1, (cells(text[start:end]) - room) // 2)
    return end


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, with ``…`` where its end went."""
    text = " ".join(text.split())
    if cells(text) <= width:
        return text
    return text[: _reach(text, 0, max(width - 1, 1))].rstrip() + "…"


class Page:
    """Rows of styled parts, ``width`` columns wide."""

    def __init__(self, width: int, color: bool) -> None:
        self.width = max(width, MIN_WIDTH)
        self.color = color
        self._rows: list[list[Part]] = []

    def row(self, *parts: Part) -> None:
        """One row as it is, never wrapped."""
        self._rows.append(list(parts))

    def blank(self) -> None:
        """An empty row, unless there is one already or nothing yet."""
        if self._rows and self._rows[-1]:
            self._rows.append([])

    def heading(self, text: str) -> None:
        """The title of a section, set off by an empty row."""
        self.blank()
        self.paragraph((text, "strong"))

    def paragraph(self, *parts: Part, indent: int = 0, hanging: int | None = None) -> None:
        """Running text, wrapped; rows after the first are indented by ``hanging`` columns."""
        shown = [(text.replace("\n", " ").replace("\t", " "), style) for text, style in parts]
        text = "".join(part for part, _ in shown)
        hanging = min(indent if hanging is None else hanging, self.width // 2)
        width = min(self.width, _MEASURE)
        for number, (start, end) in enumerate(breaks(text, width - indent, width - hanging)):
            margin: Part = (" " * (hanging if number else indent), "")
            self.row(margin, *_between(shown, start, end))

    def item(self, *parts: Part | str, bullet: str = "-", indent: int = 2) -> None:
        """A paragraph with a bullet or a number in front."""
        styled: list[Part] = [(part, "") if isinstance(part, str) else part for part in parts]
        self.paragraph((f"{bullet} ", ""), *styled, indent=indent, hanging=indent + len(bullet) + 1)

    def verbatim(self, text: str, indent: int, style: Style = "") -> None:
        """Lines as they are, to be copied: never wrapped."""
        for line in text.split("\n"):
            self.row((" " * indent, ""), (line, style))

    def columns(
        self,
        rows: Iterable[Sequence[str]],
        indent: int = 2,
        right: Sequence[int] = (),
        optional: Sequence[int] = (),
    ) -> None:
        """A table: the first row is its head; columns listed in ``right`` are aligned right.

        Columns listed in ``optional`` are left out, in that order, where the page is too narrow. The
        last column wraps when its row is too wide; the others are as wide as their widest cell.
        """
        table = [[" ".join(cell.split()) for cell in row] for row in rows]
        widths = [max(cells(row[i]) for row in table) for i in range(len(table[0]))]
        if optional and indent + sum(width + 2 for width in widths) - 2 > self.width:
            gone = optional[0]
            kept = [[cell for i, cell in enumerate(row) if i != gone] for row in table]
            self.columns(kept, indent, [i - (i > gone) for i in right if i != gone],
                         [i - (i > gone) for i in optional[1:]])  # fmt: skip
            return
        used = indent + sum(width + 2 for width in widths[:-1])
        room = max(self.width - used, 16)
        for number, row in enumerate(table):
            style: Style = "" if number else "faint"
            padded = [
                " " * (width - cells(cell)) + cell if i in right else cell + " " * (width - cells(cell))
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            head = " " * indent + "".join(cell + "  " for cell in padded[:-1])
            last = padded[-1].rstrip(" ")
            for start, end in breaks(last, room, room):
                self.row((head, style), (last[start:end], style))
                head = " " * used

    def render(self) -> str:
        """The page as text without trailing spaces or a final line feed."""
        return "\n".join(self._row(row) for row in self._rows).rstrip("\n")

    def _row(self, parts: list[Part]) -> str:
        while parts and not parts[-1][0].rstrip(" "):
            parts = parts[:-1]
        if parts:
            parts = [*parts[:-1], (parts[-1][0].rstrip(" "), parts[-1][1])]
        if not self.color:
            return "".join(text for text, _ in parts)
        return "".join(
            f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and text else text for text, style in parts
        )


def _between(parts: Iterable[Part], start: int, end: int) -> list[Part]:
    """The parts of the text ``start:end`` of the parts' joined text."""
    found: list[Part] = []
    position = 0
    for text, style in parts:
        piece = text[max(0, start - position) : max(0, end - position)]
        if piece:
            found.append((piece, style))
        position += len(text)
    return found
