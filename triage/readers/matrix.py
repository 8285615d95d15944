"""Device matrices as ``nvidia-smi topo`` prints them: a header of devices, then one row per device.

The text may have been pasted, wrapped by a terminal, cut, prefixed by a logger or copied without its
tabs, so columns are found by what stands in them and not by where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from triage.readers.capture import Line

MAX_DEVICES = 128
"""Devices of one matrix; the largest machines have 16 GPUs and some 20 adapters."""
MAX_MATRICES = 256

_NUMBER = r"(?:0|[1-9]\d{0,2})"
_NAME = rf"(?:GPU|NIC){_NUMBER}|[a-z][a-z_.-]{{0,15}}\d[\w.-]{{0,30}}"
_HEADER_DEVICE = re.compile(rf"\s*({_NAME})(?=\s|GPU\d|NIC\d|$)")
_HEADER_END = re.compile(r"\s*(?:CPU\b|NUMA\b|GPU\s+NUMA|$)")
_GPU = re.compile(rf"(?<![\w/.-])GPU{_NUMBER}(?![\w]*[:=])")
_ROW_NAME = re.compile(rf"(?<![\w/.-])({_NAME})\s+(?=\S)")
_ALIAS = re.compile(r"(?:^|\s)(NIC\d{1,3})\s*:\s*([A-Za-z][\w.-]{0,40})\s*$")
_GAP = 2
"""Foreign lines that may stand between two rows (other writers of the same log)."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix.

    ``cells[(row, column)]`` holds what stands there. ``tails`` holds what follows the cells of a row
    (CPU and NUMA affinity), ``aliases`` the names behind ``NIC0`` … ``lines`` are header and rows.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[str, str], str]
    tails: Mapping[str, str]
    aliases: Mapping[str, str]
    lines: tuple[Line, ...]
    row_lines: Mapping[str, Line]
    notes: tuple[str, ...] = ()

    @property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that have a column or a row, in order."""
        names = dict.fromkeys(n for n in (*self.columns, *self.rows) if n.startswith("GPU"))
        return tuple(sorted(names, key=lambda name: int(name[3:])))

    @property
    def adapters(self) -> tuple[str, ...]:
        """The network adapters that have a column or a row, in order of appearance."""
        names = dict.fromkeys(n for n in (*self.columns, *self.rows) if not n.startswith("GPU"))
        return tuple(names)


@dataclass(slots=True)
class _Building:
    columns: list[str]
    lines: list[Line]
    rows: dict[str, list[str]] = field(default_factory=dict)
    tails: dict[str, str] = field(default_factory=dict)
    row_lines: dict[str, Line] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    current: str | None = None


def header_of(text: str) -> list[str] | None:
    """The devices of a header line, or None when ``text`` is none."""
    for match in _GPU.finditer(text):
        devices: list[str] = []
        position = match.start()
        while len(devices) < MAX_DEVICES:
            device = _HEADER_DEVICE.match(text, position)
            if device is None:
                break
            devices.append(device[1])
            position = device.end()
        if devices and _HEADER_END.match(text, position) and len(set(devices)) == len(devices):
            return devices
        return None
    return None


def matrices(lines: Sequence[Line], cell: re.Pattern[str]) -> list[Matrix]:
    """All matrices in ``lines`` whose cells ``cell`` matches."""
    return list(_matrices(lines, cell))[:MAX_MATRICES]


def _matrices(lines: Sequence[Line], cell: re.Pattern[str]) -> Iterator[Matrix]:
    building: _Building | None = None
    gap = 0
    for number, original in enumerate(lines):
        line = original
        if "|" in line.text and "GPU" in line.text:  # a table in a report
            line = Line(line.number, line.offset, line.text.replace("|", " "))
        text = line.text
        header = header_of(text) if "GPU" in text else None
        if header is not None:
            if building is not None and not building.rows and header[0] not in building.columns:
                building.columns.extend(header)  # a header that the terminal wrapped
                building.lines.append(line)
                continue
            if building is not None and building.rows:
                yield _finished(building)
            building = _Building(header[:MAX_DEVICES], [line])
            gap = 0
            continue
        if building is None:
            continue
        if _read_row(building, line, cell):
            gap = 0
            continue
        gap += 1
        if gap > _GAP or "Legend" in text or (building.rows and not text.strip()):
            if building.rows:
                _read_aliases(building, lines[number : number + MAX_DEVICES])
                yield _finished(building)
            building = None
    if building is not None and building.rows:
        yield _finished(building)


def _read_aliases(building: _Building, lines: Sequence[Line]) -> None:
    """Take the adapters' names from the legend that follows a matrix."""
    if not any(name.startswith("NIC") for name in building.columns):
        return
    for line in lines:
        alias = _ALIAS.search(line.text)
        if alias and alias[1] in building.columns:
            building.aliases.setdefault(alias[1], alias[2])
        elif "GPU" in line.text and header_of(line.text):
            return


def _read_row(building: _Building, line: Line, cell: re.Pattern[str]) -> bool:
    """Take ``line`` as a row, or as the rest of a row that the terminal wrapped."""
    for match in _ROW_NAME.finditer(line.text, 0, 400):
        name = match[1]
        if name not in building.columns or not cell.match(line.text, match.end()):
            continue
        if name in building.rows:
            return False
        building.rows[name] = []
        building.row_lines[name] = line
        building.current = name
        building.lines.append(line)
        _read_cells(building, name, line.text, match.end(), cell)
        return True
    name_now = building.current
    if name_now is None or len(building.rows[name_now]) >= len(building.columns):
        return False
    start = len(line.text) - len(line.text.lstrip())
    if not cell.match(line.text, start):
        return False
    building.lines.append(line)
    _read_cells(building, name_now, line.text, start, cell)
    return True


def _read_cells(building: _Building, name: str, text: str, position: int, cell: re.Pattern[str]) -> None:
    values = building.rows[name]
    while len(values) < len(building.columns):
        while position < len(text) and text[position].isspace():
            position += 1
        match = cell.match(text, position)
        if match is None:
            break
        values.append(match[0])
        position = match.end()
    building.tails[name] = text[position:].strip()[:200]


def _finished(building: _Building) -> Matrix:
    cells: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for row, values in building.rows.items():
        cells.update(((row, column), value) for column, value in zip(building.columns, values, strict=False))
        if len(values) < len(building.columns):
            notes.append(f"row {row} ends after {len(values)} of {len(building.columns)} columns")
    missing = [name for name in building.columns if name.startswith("GPU") and name not in building.rows]
    if missing:
        notes.append(f"no row for {', '.join(missing[:8])}")
    return Matrix(
        columns=tuple(building.columns),
        rows=tuple(building.rows),
        cells=cells,
        tails=building.tails,
        aliases=building.aliases,
        lines=tuple(building.lines),
        row_lines=building.row_lines,
        notes=tuple(notes),
    )
