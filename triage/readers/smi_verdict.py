"""What in the state of a GPU is wrong: each check looks at the values under some paths.

A check names the paths it reads in both spellings, that of ``nvidia-smi -q`` and that of the CSV query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from triage.readers.smi_device import LOST, Cell, Device

_SLOWDOWN_BITS = {0x8: "HW slowdown", 0x40: "HW thermal slowdown", 0x80: "HW power brake"}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one GPU: the rule, the value that says so, and how to put it in words."""

    rule_id: str
    device: Device
    cell: Cell
    detail: str


_Check = tuple[str, re.Pattern[str], Callable[[Cell], bool], str]


def _positive(cell: Cell) -> bool:
    return cell.number is not None and cell.number > 0


def _yes(cell: Cell) -> bool:
    return cell.value.strip().lower() in {"yes", "true", "1"}


def _active(cell: Cell) -> bool:
    return cell.value.strip().lower() == "active"


def _one_of(*words: str) -> Callable[[Cell], bool]:
    return lambda cell: cell.value.strip().lower() in words


def _not_ready(cell: Cell) -> bool:
    return cell.value.strip().lower() in {"in progress", "not started"}


def _failed_status(cell: Cell) -> bool:
    return cell.known and cell.value.strip().lower() not in {"success", "[n/a]"}


_CHECKS: tuple[_Check, ...] = (
    (
        "gpu.smi-ecc-uncorrectable",
        re.compile(
            r"ecc errors/volatile/(?:\S+ uncorrectable.*|double bit/.+)$"
            r"|ecc\.errors\.uncorrected\.volatile\.\w+$|table/volatile uncorrectable ecc$"
        ),
        _positive,
        "uncorrectable ECC errors since the driver was loaded",
    ),
    (
        "gpu.smi-sram-threshold",
        re.compile(r"ecc errors/aggregate/sram threshold exceeded$|ecc\.errors\.\S*sram\S*threshold\S*$"),
        _yes,
        "SRAM error threshold exceeded",
    ),
    (
        "gpu.smi-remap-failed",
        re.compile(r"remapped rows/remapping failure occurred$|remapped_rows\.failure$"),
        _yes,
        "row remapping failed",
    ),
    (
        "gpu.smi-memory-repair-pending",
        re.compile(
            r"remapped rows/pending$|remapped_rows\.pending$|ecc errors/(?:channel|tpc) repair pending$"
            r"|retired pages/pending(?: page blacklist| retirement)?$|retired_pages\.pending$"
        ),
        _yes,
        "a memory repair waits for a reset",
    ),
    (
        "gpu.smi-unrepairable",
        re.compile(r"ecc errors/unrepairable memory$"),
        _yes,
        "memory that cannot be repaired",
    ),
    (
        "gpu.smi-recovery-action",
        re.compile(r"gpu recovery action$|gpu_recovery_action$"),
        lambda cell: cell.known and not LOST.match(cell.value),
        "the driver asks for recovery",
    ),
    (
        "gpu.smi-fabric-not-ready",
        re.compile(r"fabric/state$|fabric\.state$"),
        _not_ready,
        "fabric registration not completed",
    ),
    (
        "gpu.smi-fabric-failed",
        re.compile(r"fabric/status$|fabric\.status$"),
        _failed_status,
        "fabric registration failed",
    ),
    (
        "gpu.smi-fabric-unhealthy",
        re.compile(r"fabric/health/(?:summary|bandwidth)$"),
        _one_of("unhealthy", "limited capacity", "degraded"),
        "NVLink fabric health",
    ),
    (
        "gpu.smi-fabric-unhealthy",
        re.compile(r"fabric/health/(?:route unhealthy|access timeout recovery|route recovery in progress)$"),
        _one_of("true", "yes"),
        "NVLink fabric health",
    ),
    (
        "gpu.smi-slowdown",
        re.compile(
            r"clocks (?:event|throttle) reasons/hw slowdown(?:/hw (?:thermal|power brake) slowdown)?$"
            r"|clocks (?:event|throttle) reasons/(?:sw thermal slowdown|hw (?:thermal|power brake) slowdown)$"
            r"|clocks_(?:event|throttle)_reasons\.(?:hw_\w+|sw_thermal_slowdown)$"
        ),
        _active,
        "clocks are held down",
    ),
)


def problems(devices: Sequence[Device]) -> Iterator[Problem]:
    """Everything that is wrong with any of ``devices``."""
    for device in devices:
        yield from _of_device(device)


def _of_device(device: Device) -> Iterator[Problem]:
    lost = _lost(device)
    if lost is not None:
        yield lost
    state = device.values.get("fabric/state") or device.values.get("fabric.state")
    for path, cell in device.values.items():
        for rule_id, pattern, wrong, words in _CHECKS:
            if not pattern.search(path) or not wrong(cell):
                continue
            if rule_id == "gpu.smi-fabric-failed" and state is not None and _not_ready(state):
                continue
            yield Problem(rule_id, device, cell, f"{words}: {_leaf(path)} {cell.value}")
    yield from _throttle_bits(device)
    yield from _narrow_link(device)


def _leaf(path: str) -> str:
    if path.startswith("table/"):
        return path[6:]
    return path.rpartition("/")[2]


def _lost(device: Device) -> Problem | None:
    """No answer for the name, power or several values: the GPU is gone. For one sensor: a sensor."""
    mute = [(p, c) for p, c in device.values.items() if LOST.match(c.value)]
    if not mute:
        return None
    decisive = [(p, c) for p, c in mute if re.search(r"name$|power|perf|pstate|memory", p)]
    explicit = [(p, c) for p, c in mute if re.search(r"lost|requires reset", c.value, re.IGNORECASE)]
    path, cell = (explicit or decisive or mute)[0]
    if explicit or len(mute) >= 3 or any(p.endswith("name") for p, _ in decisive):
        return Problem("gpu.smi-lost", device, cell, f"{_leaf(path)} reads {cell.value}")
    return Problem("gpu.smi-sensor-error", device, cell, f"{_leaf(path)} reads {cell.value}")


def _throttle_bits(device: Device) -> Iterator[Problem]:
    for name in ("clocks_event_reasons.active", "clocks_throttle_reasons.active"):
        cell = device.values.get(name)
        if cell is None or not re.match(r"0x[0-9a-fA-F]{1,16}$", cell.value):
            continue
        bits = int(cell.value, 16)
        reasons = [words for bit, words in _SLOWDOWN_BITS.items() if bits & bit]
        if reasons:
            yield Problem("gpu.smi-slowdown", device, cell, f"clocks are held down: {', '.join(reasons)}")


def _narrow_link(device: Device) -> Iterator[Problem]:
    """Link width does not change with load, so fewer lanes than the GPU has are a fault.

    The generation drops when a GPU idles; it is judged only under load.
    """
    pairs = (
        ("pci/gpu link info/link width/current", "pci/gpu link info/link width/max", False),
        ("pcie.link.width.current", "pcie.link.width.max", False),
        ("pci/gpu link info/pcie generation/current", "pci/gpu link info/pcie generation/max", True),
        ("pcie.link.gen.current", "pcie.link.gen.max", True),
        ("pcie.link.gen.gpucurrent", "pcie.link.gen.gpumax", True),
    )
    for current, maximum, under_load in pairs:
        now, full = device.values.get(current), device.values.get(maximum)
        if now is None or full is None or now.number is None or full.number is None:
            continue
        if 0 < now.number < full.number and (not under_load or _busy(device)):
            what = "generation" if under_load else "width"
            yield Problem("gpu.smi-pcie-link", device, now, f"PCIe link {what} {now.value} of {full.value}")


def _busy(device: Device) -> bool:
    for name in ("utilization/gpu", "utilization.gpu", "table/util"):
        cell = device.values.get(name)
        if cell is not None and cell.number is not None:
            return cell.number >= 50
    return False
