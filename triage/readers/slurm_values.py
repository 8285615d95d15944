"""How Slurm prints values: states, exit codes, times, durations, sizes, TRES. Nonsense becomes None."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_UNKNOWN = frozenset(
    {"", "unknown", "none", "n/a", "(null)", "null", "invalid", "partition_limit", "unlimited"}
)
STATES = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
     "LAUNCH_FAILED", "OUT_OF_MEMORY", "PENDING", "PREEMPTED", "REQUEUED", "REQUEUE_HOLD", "RESIZING",
     "REVOKED", "RUNNING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED", "SUSPENDED", "TIMEOUT"}
)  # fmt: skip
"""Every state, in full; default tables cut them to ten characters."""
_CODES = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "DL": "DEADLINE", "F": "FAILED",
    "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED", "S": "SUSPENDED", "TO": "TIMEOUT",
    "CG": "COMPLETING", "CF": "CONFIGURING", "SE": "SPECIAL_EXIT", "NODE_FAILED": "NODE_FAIL",
}  # fmt: skip


ENDED_BY = {
    "OUT_OF_MEMORY": "slurm.recorded-out-of-memory",
    "NODE_FAIL": "slurm.recorded-node-fail",
    "PREEMPTED": "slurm.recorded-preempted",
    "TIMEOUT": "slurm.recorded-timeout",
    "BOOT_FAIL": "slurm.recorded-boot-fail",
    "DEADLINE": "slurm.recorded-deadline",
    "LAUNCH_FAILED": "slurm.recorded-launch-failed",
    "CANCELLED": "slurm.recorded-cancelled",
}
"""The rule that states what an end in this state means."""
OOM_SIGNAL = 125
"""The signal that Slurm reports for a step whose cgroup met the OOM killer."""
LAUNCH_SIGNAL = 53
"""The signal that Slurm reports when it could not start the batch script (its output file, its directory)."""


def known(text: str | None) -> str | None:
    """``text``, or None when Slurm says in one of its ways that there is nothing."""
    return None if text is None or text.strip().lower() in _UNKNOWN else text.strip()


def state(text: str | None) -> tuple[str | None, int | None]:
    """``CANCELLED by 1000`` as state and user id; compact codes and truncated ``OUT_OF_ME+`` too."""
    match = re.match(r"\s*([A-Za-z_]+)(\+?)(?:\s+by\s+(\d{1,10}))?", text or "")
    if match is None:
        return None, None
    name = match[1].upper()
    name = _CODES.get(name, name)
    if match[2]:
        full = [state for state in STATES if state.startswith(name)]
        name = full[0] if len(full) == 1 else name
    return name, int(match[3]) if match[3] else None


def exit_status(text: str | None) -> tuple[int | None, int | None]:
    """``1:0`` as exit code and signal."""
    match = re.fullmatch(r"\s*(\d{1,5}):(\d{1,5})\s*", text or "")
    return (int(match[1]), int(match[2])) if match else (None, None)


def wait_status(text: str | None) -> tuple[int | None, int | None]:
    """A status as ``wait`` gives it (``SLURM_JOB_EXIT_CODE``) as exit code and signal."""
    number = integer(text)
    if number is None or not 0 <= number < 1 << 16:
        return None, None
    return number >> 8, number & 0x7F


def integer(text: str | None) -> int | None:
    """A number of at most 18 digits."""
    match = re.fullmatch(r"\s*(-?\d{1,18})(?:\.0+)?\s*", text or "")
    return int(match[1]) if match else None


def moment(text: str | None) -> float | None:
    """Unix seconds, or ISO local time as Slurm prints it, as Unix seconds."""
    text = known(text)
    if text is None:
        return None
    if re.fullmatch(r"\d{1,11}", text):
        return float(text) or None
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def duration(text: str | None) -> float | None:
    """``1-02:03:04``, ``02:03:04``, ``03:04``, ``03:04.500`` as seconds."""
    match = re.fullmatch(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d+)?)", known(text) or "")
    if match is None:
        return None
    days, hours, minutes = (int(match[i] or 0) for i in (1, 2, 3))
    return days * 86400 + hours * 3600 + minutes * 60 + float(match[4])


def size(text: str | None) -> int | None:
    """``12345K``, ``2.5G``, plain bytes; a trailing ``n`` or ``c`` (per node, per CPU) is ignored."""
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,6})?)([KMGTP]?)[nc]?", known(text) or "")
    return None if match is None else int(float(match[1]) * _UNITS[match[2]])


def tres(text: str | None) -> Mapping[str, int]:
    """``cpu=16,mem=64G,gres/gpu:h100=8`` as a mapping; memory in bytes."""
    found: dict[str, int] = {}
    for part in (text or "").split(",")[:64]:
        name, _, value = part.partition("=")
        number = size(value)
        if name and number is not None:
            # Slurm counts memory without a unit in MiB
            found[name] = number << 20 if name == "mem" and value.isdecimal() else number
    return found
