"""``nvidia-smi -q``: one indented block per GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.readers.capture import Line
from triage.readers.smi_device import LOST, Cell, Device, Process, mebibytes, pci_of, uuid_of

BANNER = re.compile(r"=+NVSMI LOG=+")
HEADING = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
_PAIR = re.compile(r"(\s*)(\S.*?)\s+: ?(.*)$")
_SECTION = re.compile(r"(\s+)(\S[^:]*?)\s*$")
MAX_VALUES = 1_000
"""Values kept per GPU; a full block has about 250."""


def devices(lines: Sequence[Line]) -> tuple[list[Device], dict[str, Cell]]:
    """The GPUs in ``lines``, and what stands before the first of them (versions, number of GPUs)."""
    found: list[Device] = []
    head: dict[str, Cell] = {}
    stack: list[tuple[int, str]] = []
    numbers: set[int] = set()
    for line in lines:
        heading = HEADING.match(line.text.strip())
        if heading:
            found.append(Device(len(found), [line], pci=pci_of(heading[1])))
            stack = []
            continue
        if BANNER.search(line.text):
            stack = []
            continue
        pair = _PAIR.match(line.text)
        if pair is None:
            section = _SECTION.match(line.text)
            if section and found:
                _enter(stack, len(section[1]), section[2])
            continue
        if not found:
            head.setdefault(pair[2].lower(), Cell(pair[3].strip(), line))
            continue
        _enter(stack, len(pair[1]), pair[2])
        device = found[-1]
        if len(device.values) < MAX_VALUES:
            path = "/".join(name for _, name in stack).lower()
            reading = Cell(pair[3].strip(), line)
            device.values.setdefault(path, reading)
            _process(device, path, reading)
    for device in found:
        _name(device)
        minor = device.values.get("minor number")
        if minor is not None and minor.number is not None and len(found) == 1:
            device.number = int(minor.number)
        numbers.add(device.number)
    return found, head


def _enter(stack: list[tuple[int, str]], indent: int, name: str) -> None:
    while stack and stack[-1][0] >= indent:
        stack.pop()
    stack.append((indent, name.strip()))


def _name(device: Device) -> None:
    values = device.values
    if "product name" in values:
        name = values["product name"].value
        device.name = None if LOST.match(name) else name
        device.lines.append(values["product name"].line)
    if "gpu uuid" in values:
        device.uuid = uuid_of(values["gpu uuid"].value)
    if "fb memory usage/total" in values:
        device.total = mebibytes(values["fb memory usage/total"].value)
    if "fb memory usage/used" in values:
        device.used = mebibytes(values["fb memory usage/used"].value)


def _process(device: Device, path: str, reading: Cell) -> None:
    """Processes repeat their keys, so they are taken while reading."""
    if path.endswith("process id") and reading.value.isdigit():
        device.processes.append(Process(int(reading.value), "", None))
    elif device.processes and "process" in path:
        last = device.processes[-1]
        if path.endswith("/name"):
            device.processes[-1] = Process(last.pid, reading.value[:120], last.used)
        elif path.endswith("used gpu memory"):
            device.processes[-1] = Process(last.pid, last.name, mebibytes(reading.value))
