"""The topology of a receipt as the text that the topology reader knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def topology_text(value: Any) -> str:
    """A topology as ``nvidia-smi topo -m`` prints it, from text, a list of rows or nested mappings."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        names = [str(name) for name in value if isinstance(value[name], Mapping)]
        columns = list(dict.fromkeys([*names, *(str(c) for n in names for c in value[n])]))
        rows = [[n, *(str(value[n].get(c, "X" if c == n else "N/A")) for c in columns)] for n in names]
        return _lines(["", *columns], rows) if rows else ""
    if isinstance(value, Sequence) and value and all(isinstance(r, Sequence) for r in value):
        rows = [[str(cell) for cell in row] for row in value if not isinstance(row, str)]
        if not rows:
            return "\n".join(str(row) for row in value)
        if rows[0] and rows[0][0].startswith("GPU") and len(rows[0]) == len(rows[-1]) and "X" in rows[0]:
            return _lines(["", *(row[0] for row in rows)], rows)  # rows with names, no header
        if rows[0][0:1] == ["X"]:  # bare cells
            names = [f"GPU{i}" for i in range(len(rows))]
            return _lines(["", *names], [[n, *row] for n, row in zip(names, rows, strict=True)])
        return _lines(rows[0], rows[1:])
    return ""


def _lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in (header, *rows))
