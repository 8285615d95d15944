"""What ``nvidia-smi`` says instead of, or beside, its tables: GPUs without a handle, no driver, no device.

The same messages turn up in job logs, where the rules of ``rules/gpu/nvidia_smi_messages.yaml`` find
them; a capture is read whole by its reader, so it looks for them itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.model import Value
from triage.readers.capture import Findings, Line
from triage.readers.smi_device import pci_of

_BUS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_MESSAGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "gpu.smi-no-handle",
        re.compile(
            r"Unable to determine the device handle for (?:GPU ?)?"
            rf"(?P<which>(?:(?P<gpu>\d{{1,3}}): )?(?P<pci>{_BUS})|(?P<only>\d{{1,3}}))"
            r"(?:: (?P<reason>[A-Z][A-Za-z ]{3,40}))?",
            re.IGNORECASE,
        ),
    ),
    ("gpu.nvml-version-mismatch", re.compile(r"Driver/library version mismatch", re.IGNORECASE)),
    (
        "gpu.smi-no-driver",
        re.compile(r"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"),
    ),
    ("gpu.smi-no-devices", re.compile(r"^No devices were found\s*$")),
    (
        "gpu.nvml-unknown-error",
        re.compile(
            r"Failed to initialize NVML: (?P<reason>Unknown Error|Insufficient Permissions"
            r"|GPU access blocked by the operating system)"
        ),
    ),
    ("gpu.smi-inforom", re.compile(r"infoROM is corrupted at gpu (?P<pci>[0-9A-Fa-f:.]+)")),
)


def message_of(text: str) -> tuple[str, dict[str, Value]] | None:
    """The rule for a line that is such a message and what it captures; None for any other line."""
    for rule_id, pattern in _MESSAGES:
        match = pattern.search(text)
        if match:
            return rule_id, _fields(match)
    return None


def messages(found: Findings, lines: Sequence[Line]) -> None:
    """Record the messages among ``lines``."""
    for line in lines:
        message = message_of(line.text) if "|" not in line.text else None
        if message is not None:
            gpu = message[1].get("gpu")
            found.add(message[0], [line], message[1], gpu=gpu if isinstance(gpu, int) else None)


def _fields(match: re.Match[str]) -> dict[str, Value]:
    groups = match.groupdict()
    number = groups.get("gpu") or groups.get("only")
    return {
        "which": groups.get("which"),
        "reason": groups.get("reason"),
        "gpu": int(number) if number else None,
        "pci": pci_of(groups["pci"]) if groups.get("pci") else None,
    }
