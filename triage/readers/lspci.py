"""``lspci -vv``: GPUs and network adapters whose PCIe link has fewer lanes than they can use.

Only the width tells: a GPU at rest lowers its link's speed, and a card of a newer generation runs in an older slot by
design. Bridges and empty slots show narrow links that mean nothing, so only devices that carry a job's data are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.model import Finding, Source
from triage.readers.capture import Findings, Line, lines_of, prompt_host

KIND = "lspci"
_DEVICE = re.compile(
    r"(?P<pci>(?:[\da-fA-F]{4,8}:)?[\da-fA-F]{2}:[\da-fA-F]{2}\.\d) (?P<kind>[A-Z\d][\w ]{3,60}?)(?: \[[\da-f]{4}\])?: (?P<device>\S.*)"
)
_GPU = re.compile(r"3D controller|VGA compatible controller|Processing accelerators|Display controller")
_MAKERS = re.compile(r"NVIDIA|Instinct|Gaudi|Habana|Data Center GPU")
_ADAPTER = re.compile(r"Infiniband controller|Ethernet controller|Network controller|Fabric controller")
_FAST = re.compile(
    r"Mellanox|ConnectX|BlueField|\b57[56]\d\d|\bBCM57[56]|\bE8[13]\d|Chelsio|Pensando|Omni-Path|Cassini|Elastic Fabric"
)
"""Adapters that carry the traffic of jobs, and not the one by which the machine is managed."""
_LINK = re.compile(
    r"\s+(?P<what>LnkCap|LnkSta):\s.*?Speed (?P<speed>[\d.]+) ?GT/s(?: \(\w+\))?, Width x(?P<width>\d{1,2})\b"
)


@dataclass(slots=True)
class _Device:
    """A device while its lines are read."""

    pci: str
    device: str
    gpu: bool
    head: Line
    full: tuple[int, Line] | None = None


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """A finding for each such device with a narrow link."""
    lines = lines_of(text, line, offset)
    found = Findings(source, index, KIND, host=prompt_host(lines))
    device: _Device | None = None
    for entry in lines:
        head = _DEVICE.match(entry.text)
        if head is not None:
            device = _carrier(head, entry)
            continue
        link = _LINK.match(entry.text) if device is not None else None
        if link is None or device is None:
            continue
        if link["what"] == "LnkCap":
            device.full = int(link["width"]), entry
        elif device.full is not None:
            _judge(found, device, int(link["width"]), float(link["speed"]), entry)
            device = None
    return tuple(found.items)


def _carrier(head: re.Match[str], line: Line) -> _Device | None:
    kind, device = head["kind"], head["device"]
    gpu = _GPU.fullmatch(kind) is not None and _MAKERS.search(device) is not None
    adapter = _ADAPTER.fullmatch(kind) is not None and _FAST.search(device) is not None
    return _Device(head["pci"], device.strip(), gpu, line) if gpu or adapter else None


def _judge(found: Findings, device: _Device, width: int, speed: float, line: Line) -> None:
    """Record a link that has fewer lanes than it can have; none at all belongs to a device that is switched off."""
    if device.full is None or not 0 < width < device.full[0]:
        return
    full, capability = device.full
    found.add(
        "topology.pcie-gpu-narrow" if device.gpu else "topology.pcie-adapter-narrow",
        [device.head, capability, line],
        {
            "pci": device.pci if device.pci.count(":") > 1 else f"0000:{device.pci}",
            "device": device.device, "width": width, "full": full, "speed": speed,
        },
    )  # fmt: skip
