"""``nvidia-smi --query-…=… --format=csv``: a header of property names, then one row per GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.readers.capture import Line
from triage.readers.smi_device import LOST, Cell, Device, Process, mebibytes, pci_of, uuid_of

_COLUMN = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*(?: \[[A-Za-z/%]+\])?$")
_KNOWN = re.compile(
    r"(?:index|name|gpu_name|uuid|gpu_uuid|gpu_bus_id|pci|memory|utilization|temperature|power|clocks|pstate|ecc|fabric"
    r"|retired_pages|remapped_rows|driver_version|count|serial|timestamp|compute_mode|mig|fan|pid|process_name|used_memory"
    r"|used_gpu_memory|vbios_version|persistence_mode|clocks_throttle_reasons|clocks_event_reasons|gpu_recovery_action"
    r"|display_active|display_mode|accounting|inforom|gom|enforced|encoder|compute_cap|c2c|protected_memory)\b"
)
MAX_COLUMNS = 200


def header_of(text: str) -> list[str] | None:
    """The property names of a header line, without units; None when ``text`` is none."""
    names = [part.strip() for part in text.split(",")][:MAX_COLUMNS]
    if not names or not all(_COLUMN.match(name) for name in names):
        return None
    plain = [name.partition(" [")[0] for name in names]
    known = sum(1 for name in plain if _KNOWN.match(name))
    if len(plain) == 1:
        return plain if "." in plain[0] and known else None
    return plain if known >= 2 and known * 2 >= len(plain) else None


def devices(lines: Sequence[Line]) -> list[Device]:
    """The GPUs of all CSV tables in ``lines``."""
    found: list[Device] = []
    columns: list[str] | None = None
    rows = 0
    for line in lines:
        header = header_of(line.text.strip()) if line.text.strip() else None
        if header is not None:
            columns, rows = header, 0
            continue
        if columns is None:
            continue
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) < len(columns) or (len(columns) == 1 and not cells[0]):
            columns = None
            continue
        row = dict(zip(columns, cells, strict=False))
        if "pid" in row:
            _attach(found, row)
        else:
            found.append(_device(row, line, rows))
        rows += 1
    return found


def _device(row: dict[str, str], line: Line, position: int) -> Device:
    index = row.get("index", "")
    device = Device(int(index) if index.isdigit() and len(index) < 4 else position, [line])
    name = row.get("name") or row.get("gpu_name")
    device.name = None if name is None or LOST.match(name) else name
    device.uuid = uuid_of(row.get("uuid") or row.get("gpu_uuid") or "")
    device.pci = pci_of(row.get("pci.bus_id") or row.get("gpu_bus_id") or "")
    device.total = mebibytes(row.get("memory.total", ""))
    device.used = mebibytes(row.get("memory.used", ""))
    device.values = {
        name: Cell(value, line) for name, value in row.items() if name not in {"index", "timestamp"}
    }
    return device


def _attach(found: list[Device], row: dict[str, str]) -> None:
    """Give a process of ``--query-compute-apps`` to its GPU, when the table names it."""
    if not row["pid"].isdigit() or len(row["pid"]) > 9:
        return
    used = mebibytes(row.get("used_gpu_memory") or row.get("used_memory") or "")
    process = Process(int(row["pid"]), (row.get("process_name") or row.get("name") or "")[:120], used)
    uuid, pci = uuid_of(row.get("gpu_uuid", "")), pci_of(row.get("gpu_bus_id", ""))
    for device in found:
        if (uuid and device.uuid == uuid) or (pci and device.pci == pci) or len(found) == 1:
            device.processes.append(process)
            return
