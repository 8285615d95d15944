"""The table that plain ``nvidia-smi`` prints, and the list of ``nvidia-smi -L``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from triage.readers.capture import Line
from triage.readers.smi_device import Cell, Device, Process, mebibytes, pci_of, uuid_of

BANNER = re.compile(r"\|\s*NVIDIA-SMI\s+(?P<smi>[\d.]+)\s+(?:Driver Version:\s*(?P<driver>[\d.]+))?")
LISTED = re.compile(
    r"(?:^|[\s:])GPU\s+(?P<index>\d{1,3}):\s+(?P<name>[^()|]{2,80}?)\s+\(UUID:\s*(?P<uuid>[\w-]+)\)"
)
_CUDA = re.compile(r"CUDA Version:\s*(?P<cuda>[\d.]+)")
_BUS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_FIRST = re.compile(
    rf"\|\s*(?P<index>\d{{1,3}})\s+(?P<name>\S.*?)\s*(?:\s(?P<persistence>On|Off|N/A|ERR!)\s*)?"
    rf"\|\s*(?P<bus>{_BUS})\s*(?P<display>\S+)?\s*\|\s*(?P<ecc>[^|]*?)\s*\|"
)
_SECOND = re.compile(
    r"\|\s*(?P<fan>\S+)\s+(?P<temp>\S+)\s+(?P<perf>\S+)\s+(?P<power>\S+(?:\s\S+)?)\s*/\s*(?P<cap>\S+(?:\s\S+)?)\s*"
    r"\|\s*(?P<used>[^|/]*?)\s*/\s*(?P<total>[^|]*?)\s*"
    r"\|\s*(?P<util>[^|\s]+(?:\s(?:Error|is lost))?)\s+(?P<mode>[^|]*?)\s*\|"
)
_THIRD = re.compile(r"\|\s*\|\s*\|\s*(?P<mig>\S[^|]*?)\s*\|")
_PROCESS = re.compile(
    r"\|\s*(?P<gpu>\d{1,3})\s+(?:\S+\s+\S+\s+)?(?P<pid>\d{2,9})\s+(?P<type>[CGM+]{1,5})\s+"
    r"(?P<name>\S.*?)\s+(?P<used>\d+\s?MiB|N/A)\s*\|"
)


def versions(lines: Sequence[Line]) -> tuple[str | None, str | None, Line | None]:
    """Driver and CUDA version of the banner, and its line."""
    for line in lines:
        match = BANNER.search(line.text)
        if match:
            cuda = _CUDA.search(line.text)
            return match["driver"], cuda["cuda"] if cuda else None, line
    return None, None, None


def devices(lines: Sequence[Line]) -> list[Device]:
    """The GPUs of all tables and lists in ``lines``."""
    return list(_devices(lines))


def _devices(lines: Sequence[Line]) -> Iterator[Device]:
    current: Device | None = None
    rows = 0
    processes: dict[int, list[Process]] = {}
    found: list[Device] = []
    for line in lines:
        text = line.text
        listed = LISTED.search(text) if "UUID" in text else None
        if listed:
            found.append(_listed(listed, line))
            continue
        if "|" not in text:
            continue
        first = _FIRST.search(text)
        if first:
            current, rows = _started(first, line), 1
            found.append(current)
            continue
        process = _PROCESS.search(text) if "MiB" in text or "N/A" in text else None
        if process and not _SECOND.search(text):
            processes.setdefault(int(process["gpu"]), []).append(_process(process))
            current = None
            continue
        if current is not None and rows < 3:
            rows += 1
            _continue(current, line, rows)
    for device in found:
        device.processes = processes.get(device.number, [])
        yield device


def _started(match: re.Match[str], line: Line) -> Device:
    device = Device(int(match["index"]), [line], name=match["name"].strip(), pci=pci_of(match["bus"]))
    device.values["table/name"] = Cell(match["name"].strip(), line)
    device.values["table/volatile uncorrectable ecc"] = Cell(match["ecc"].strip(), line)
    if match["persistence"]:
        device.values["table/persistence"] = Cell(match["persistence"], line)
    if device.name and device.name.startswith("ERR!"):
        device.name = None
    return device


def _continue(device: Device, line: Line, row: int) -> None:
    match = _SECOND.search(line.text) if row == 2 else None
    if match:
        device.lines.append(line)
        for name in ("fan", "temp", "perf", "power", "util", "mode"):
            device.values[f"table/{name}"] = Cell(match[name].strip(), line)
        device.used, device.total = mebibytes(match["used"]), mebibytes(match["total"])
        return
    third = _THIRD.search(line.text)
    if third:
        device.values["table/mig"] = Cell(third["mig"], line)


def _listed(match: re.Match[str], line: Line) -> Device:
    return Device(int(match["index"]), [line], name=match["name"].strip(), uuid=uuid_of(match["uuid"]))


def _process(match: re.Match[str]) -> Process:
    return Process(int(match["pid"]), match["name"].strip()[:120], mebibytes(match["used"]))
