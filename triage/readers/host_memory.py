"""``free`` and ``df``: how much memory and how much room on file systems a host had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from triage.readers.capture import Line

FREE_HEADER = re.compile(r"\s+total\s+used\s+free\b")
FREE_ROW = re.compile(r"\s*(?P<what>Mem|Swap|Total|Low|High):\s+(?P<cells>(?:[\d.]+[KMGTPE]?i?B?\s*)+)$")
DF_HEADER = re.compile(
    r"\s*Filesystem\s+(?:Type\s+)?(?P<unit>Size|1K-blocks|1024-blocks|1M-blocks|1G-blocks|Inodes)\b"
)
DF_ROW = re.compile(
    r"\s*(?P<device>\S.{0,200}?)\s+(?:(?P<type>[a-z][\w.-]*)\s+)?(?P<size>[\d.]+[KMGTPE]?|-)\s+(?P<used>[\d.]+[KMGTPE]?|-)"
    r"\s+(?P<free>-?[\d.]+[KMGTPE]?|-)\s+(?P<share>\d{1,3}%|-)\s+(?P<mount>/\S{0,200})\s*$"
)
_UNITS = {"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BLOCKS = {"1K-blocks": 1, "1024-blocks": 1, "1M-blocks": 2, "1G-blocks": 3}
_PSEUDO = re.compile(r"/(?:snap|sys|proc|run/user|boot|media|mnt/cdrom|var/lib/snapd)\b|/dev$|/dev/(?!shm)")
_READ_ONLY = frozenset({"squashfs", "iso9660", "overlay-ro", "efivarfs", "devtmpfs"})


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of ``free`` in bytes; ``available`` is None where the tool is too old to print it."""

    what: str
    total: int
    used: int
    available: int | None
    line: Line


@dataclass(frozen=True, slots=True)
class FileSystem:
    """One row of ``df``. Sizes are in bytes, or inodes when ``inodes``; ``share`` is percent in use."""

    device: str
    mount: str
    size: int
    used: int
    free: int
    share: int | None
    inodes: bool
    line: Line

    @property
    def matters(self) -> bool:
        """False for image mounts and kernel file systems, which are full by nature."""
        return not (
            _PSEUDO.match(self.mount)
            or self.device in _READ_ONLY
            or self.device.startswith("/dev/loop")
            or self.size == 0
        )


def amount(text: str, power: int) -> int | None:
    """Bytes from ``1.5G``, or from a bare number of ``1024 ** power``; None when it is no number."""
    match = re.match(r"(-?[\d.]{1,20})([KMGTPE]?)i?B?$", text)
    try:
        return int(float(match[1]) * 1024 ** (_UNITS[match[2]] if match[2] else power)) if match else None
    except ValueError:
        return None


MEMINFO = re.compile(r"\s*(?P<name>[A-Z]\w+(?:\(\w+\))?):\s+(?P<value>\d{1,15}) kB\s*$")


def _meminfo(lines: Sequence[Line]) -> list[Memory]:
    """The memory that ``/proc/meminfo`` tells."""
    values: dict[str, tuple[int, Line]] = {}
    for line in lines:
        match = MEMINFO.match(line.text)
        if match:
            values.setdefault(match["name"], (int(match["value"]) << 10, line))
    if "MemTotal" not in values or "MemAvailable" not in values:
        return []
    total, line = values["MemTotal"]
    available = values["MemAvailable"][0]
    return [Memory("Mem", total, max(0, total - available), available, line)]


def memory(lines: Sequence[Line]) -> list[Memory]:
    """The rows of ``free``, and what ``/proc/meminfo`` says; where no unit is printed it is guessed."""
    found = _meminfo(lines)
    columns: list[str] = []
    for line in lines:
        if FREE_HEADER.match(line.text):
            columns = line.text.split()
            continue
        row = FREE_ROW.match(line.text) if columns else None
        if row is None:
            continue
        cells = row["cells"].split()
        power = _power(cells[0])
        values = dict(zip(columns, (amount(cell, power) for cell in cells), strict=False))
        total, used = values.get("total"), values.get("used")
        if total is None or used is None:
            continue
        available = values.get("available")
        if available is None and row["what"] == "Swap":
            available = values.get("free")
        found.append(Memory(row["what"], total, used, available, line))
    return found


def _power(total: str) -> int:
    """The unit of a bare number, which ``free`` doesn't print: nobody has a GPU host with less than 8 GiB."""
    if not total.isdigit():
        return 0
    value = int(total)
    return 3 if value < 8192 else 2 if value < 8 << 20 else 1 if value < 8 << 30 else 0


def file_systems(lines: Sequence[Line]) -> list[FileSystem]:
    """The rows of ``df``, joined where a long device name took a line of its own."""
    found: list[FileSystem] = []
    unit: str | None = None
    held: Line | None = None
    for line in lines:
        header = DF_HEADER.match(line.text)
        if header:
            unit, held = header["unit"], None
            continue
        if unit is None:
            continue
        text = line.text
        if held is not None and text[:1].isspace():
            text = held.text.strip() + " " + text.strip()
        held = None
        row = DF_ROW.match(text)
        if row is None:
            if re.match(r"\S+\s*$", text):
                held = line
            elif text.strip():
                unit = None
            continue
        power = _BLOCKS.get(unit, 0)
        size, used, free = (amount(row[name], power) or 0 for name in ("size", "used", "free"))
        share = int(row["share"][:-1]) if row["share"] != "-" else None
        inodes = unit == "Inodes"
        found.append(
            FileSystem(row["type"] or row["device"], row["mount"], size, used, free, share, inodes, line)
        )
    return found
