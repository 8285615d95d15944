"""The rank ledger as a table: ranks that are in the same state share a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from triage.model import RankState
from triage.report.layout import cells
from triage.report.words import numbers, short


class _Column(NamedTuple):
    title: str
    cell: Callable[[RankState], str]
    right: bool
    keep: int
    """When the table is too wide, columns with the highest number go first."""
    constant: bool = True
    """Whether the column is worth showing when all ranks say the same."""


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _exit(state: RankState) -> str:
    return short(state.signal) or _count(state.exit_code)


_COLUMNS = (
    _Column("state", lambda s: s.status, False, 0),
    _Column("group", lambda s: short(s.group), False, 6, False),
    _Column("operation", lambda s: short(s.operation), False, 1),
    _Column("seq", lambda s: _count(s.sequence), True, 2),
    _Column("elements", lambda s: _count(s.elements_in), True, 7, False),
    _Column("enqueued", lambda s: _count(s.enqueued), True, 3),
    _Column("started", lambda s: _count(s.started), True, 8),
    _Column("completed", lambda s: _count(s.completed), True, 4),
    _Column("exit", _exit, False, 2),
    _Column("step", lambda s: _count(s.last_step), True, 5, False),
)


class Table(NamedTuple):
    """The rows of a table, its head first, and which of its columns are numbers."""

    rows: list[list[str]]
    right: list[int]


def table(states: Sequence[RankState], width: int, origin: Sequence[int] = ()) -> Table:
    """The ledger in at most ``width`` columns, ``*`` at the rows that hold a rank of ``origin``.

    Columns that say nothing are left out, and the least telling ones where the width is short.
    """
    columns = []
    for column in _COLUMNS:
        said = {column.cell(state) for state in states} - {""}
        if len(said) > (0 if column.constant else 1):
            columns.append(column)
    while True:
        rows = _folded(states, columns, set(origin))
        widths = [max(cells(row[i]) for row in rows) for i in range(len(rows[0]))]
        droppable = [c for c in columns if c.keep]
        if sum(widths) + 2 * (len(widths) - 1) <= width or not droppable:
            return Table(rows, [i + 1 for i, c in enumerate(columns) if c.right])
        columns.remove(max(droppable, key=lambda c: c.keep))


def _folded(states: Sequence[RankState], columns: list[_Column], origin: set[int]) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[RankState]] = {}
    for state in sorted(states, key=lambda s: (s.rank, s.group or "")):
        key = ("*" if state.rank in origin else "", *(column.cell(state) for column in columns))
        groups.setdefault(key, []).append(state)
    rows = [["ranks", *(column.title for column in columns), "host"]]
    for key, members in groups.items():
        mark = " *" if key[0] else ""
        rows.append([numbers(s.rank for s in members) + mark, *key[1:], _hosts(members)])
    if len({state.host for state in states}) < 2:
        return [row[:-1] for row in rows]
    return rows


def _hosts(states: Sequence[RankState]) -> str:
    hosts = sorted({state.host for state in states if state.host})
    return short(hosts[0]) if len(hosts) == 1 else f"{len(hosts)} hosts" if hosts else ""
