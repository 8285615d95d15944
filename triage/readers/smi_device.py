"""One GPU as ``nvidia-smi`` describes it, whatever the output format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from triage.model import Value
from triage.readers.capture import Line
from triage.rules.fields import to_pci

_UNKNOWN = frozenset({"", "n/a", "[n/a]", "[not supported]", "not supported", "none", "-", "no"})
LOST = re.compile(
    r"\[?\s*(?:ERR!|Unknown Error|GPU is lost|GPU requires reset|GPU access blocked|Insufficient Perm)",
    re.IGNORECASE,
)
"""What stands in a cell when the driver got no answer from the GPU."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as printed, and the line that printed it."""

    value: str
    line: Line

    @property
    def number(self) -> float | None:
        """The number that the value begins with (``26130 MiB``, ``16x``), None when there is none."""
        match = re.match(r"\[?([\d.]{1,18})", self.value)
        try:
            return float(match[1]) if match else None
        except ValueError:
            return None

    @property
    def known(self) -> bool:
        """False for the words that stand for "no value"."""
        return self.value.strip().lower() not in _UNKNOWN


@dataclass(frozen=True, slots=True)
class Process:
    """A process that holds GPU memory (bytes, None when not shown)."""

    pid: int
    name: str
    used: int | None


@dataclass(slots=True)
class Device:
    """A GPU: who it is, its memory in bytes, and every other value under its printed path.

    Paths are lower case: ``ecc errors/volatile/dram uncorrectable`` for ``-q``,
    ``ecc.errors.uncorrected.volatile.total`` for CSV.
    """

    number: int
    """Index where printed, else the position in the output."""
    lines: list[Line] = field(default_factory=list)
    name: str | None = None
    uuid: str | None = None
    pci: str | None = None
    total: int | None = None
    used: int | None = None
    values: dict[str, Cell] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)

    @property
    def label(self) -> str:
        """How texts call it: ``GPU 3 (0000:9b:00.0)``."""
        return f"GPU {self.number} ({self.pci})" if self.pci else f"GPU {self.number}"

    def identity(self) -> dict[str, Value]:
        """What joins this GPU with other tools' output."""
        return {"gpu": self.number, "pci": self.pci, "uuid": self.uuid, "model": self.name}


def pci_of(text: str) -> str | None:
    """A PCI bus id in the kernel's spelling, None when ``text`` holds none."""
    try:
        value = to_pci(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def mebibytes(text: str) -> int | None:
    """Bytes from ``26130MiB``, ``26130 MiB`` or a bare number of MiB; None for anything else."""
    match = re.match(r"\s*(\d{1,12})\s*(?:MiB|MB)?\s*$", text)
    return int(match[1]) << 20 if match else None


def uuid_of(text: str) -> str | None:
    """A GPU or MIG uuid, None when ``text`` holds none."""
    match = re.search(r"(?:GPU|MIG)-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12}){0,4}", text)
    return match[0] if match else None


def merged(devices: Iterable[Device]) -> list[Device]:
    """Devices of several outputs of one capture, those with the same bus id made one."""
    by_key: dict[tuple[str, object], Device] = {}
    for device in devices:
        key = ("pci", device.pci) if device.pci else ("number", device.number)
        known = by_key.get(key)
        if known is None and device.pci:
            known = by_key.get(("number", device.number))
            if known is not None and known.pci not in {None, device.pci}:
                known = None
        if known is None:
            by_key[key] = device
            by_key.setdefault(("number", device.number), device)
            continue
        known.name = _fuller(known.name, device.name)
        known.uuid, known.pci = known.uuid or device.uuid, known.pci or device.pci
        known.total = known.total if known.total is not None else device.total
        known.used = known.used if known.used is not None else device.used
        known.values = {**device.values, **known.values}
        known.processes = known.processes or device.processes
        known.lines += device.lines[: max(0, 12 - len(known.lines))]
    return list({id(device): device for device in by_key.values()}.values())


def _fuller(one: str | None, other: str | None) -> str | None:
    """The name that is not abbreviated (``NVIDIA A100-SXM...``)."""
    if one is None or (one.endswith("...") and other):
        return other
    return one
