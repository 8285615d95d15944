"""Typed fields: how captured text becomes a value, and how a value is shown again.

A converter takes the captured text, white space already collapsed, and returns a value or
raises ``ValueError``; the caller then leaves the field unknown rather than guessing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from triage.model import Value

KIB = 1024
_BYTE_UNITS = {
    "": 1, "b": 1, "byte": 1, "bytes": 1,
    "k": KIB, "kb": KIB, "kib": KIB,
    "m": KIB**2, "mb": KIB**2, "mib": KIB**2,
    "g": KIB**3, "gb": KIB**3, "gib": KIB**3,
    "t": KIB**4, "tb": KIB**4, "tib": KIB**4,
    "p": KIB**5, "pb": KIB**5, "pib": KIB**5,
    "e": KIB**6, "eb": KIB**6, "eib": KIB**6,
}  # fmt: skip
_TIME_UNITS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "": 1.0, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
_QUANTITY = re.compile(r"\s*([+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?)\s*([A-Za-zµ]*)\s*$")
_CLOCK = re.compile(r"\s*(?:(\d+)-|(\d+)\s*days?,\s*)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*$")
_PCI = re.compile(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.([0-7]))?$")
_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


def to_bytes(text: str) -> Value:
    """Bytes as an int. GPU tools print GB and mean GiB, so both are binary."""
    match = _QUANTITY.match(text)
    if match is None:
        raise ValueError(f"not a size: {text!r}")
    unit = match[2].lower()
    if unit not in _BYTE_UNITS:
        raise ValueError(f"unknown unit of size: {unit!r}")
    return int(float(match[1].replace(",", "")) * _BYTE_UNITS[unit])


def to_kilobytes(text: str) -> Value:
    """Bytes from a bare number of KiB, as the Linux kernel prints memory."""
    return int(float(text.replace(",", ""))) * KIB


def to_seconds(text: str) -> Value:
    """Seconds as a float, from ``10 min``, ``600000ms``, ``1-02:03:04`` or a bare number."""
    clock = _CLOCK.match(text)
    if clock is not None:
        days = int(clock[1] or clock[2] or 0)
        parts = [float(part) for part in (clock[3], clock[4], clock[5]) if part is not None]
        scale = (3600.0, 60.0, 1.0)[: len(parts)] if len(parts) == 3 else (60.0, 1.0)
        return days * 86400.0 + sum(p * s for p, s in zip(parts, scale, strict=True))
    match = _QUANTITY.match(text)
    if match is None or match[2].lower() not in _TIME_UNITS:
        raise ValueError(f"not a duration: {text!r}")
    return float(match[1].replace(",", "")) * _TIME_UNITS[match[2].lower()]


def to_milliseconds(text: str) -> Value:
    """Seconds as a float, from a bare number of milliseconds."""
    return float(text.replace(",", "")) / 1000.0


def to_int(text: str) -> Value:
    """An integer; ``0x`` and thousands separators are understood."""
    text = text.replace(",", "").strip()
    if text.lower().startswith(("0x", "-0x")):
        return int(text, 16)
    return int(float(text)) if re.fullmatch(r"[+-]?\d+\.0*", text) else int(text)


def to_hex(text: str) -> Value:
    """An integer printed in hexadecimal, with or without ``0x``."""
    return int(text, 16)


def to_float(text: str) -> Value:
    """A float, ``nan`` and ``inf`` included."""
    return float(text.replace(",", ""))


def to_bool(text: str) -> Value:
    """A truth value as programs print it."""
    lowered = text.strip().lower()
    if lowered in {"1", "true", "yes", "on", "enabled", "y"}:
        return True
    if lowered in {"0", "false", "no", "off", "disabled", "n"}:
        return False
    raise ValueError(f"not a truth value: {text!r}")


class Version(tuple[Value, ...]):
    """A version's numbers, which compare, and how it is written: ``530.30.02`` is no ``530.30.2`` to who installs it."""

    written: str = ""


def to_version(text: str) -> Value:
    """A version as a tuple of ints, so that versions compare: ``2.11.0+cu130`` is (2, 11, 0)."""
    numbers = re.match(r"v?(\d+(?:\.\d+)*)", text.strip())
    if numbers is None:
        raise ValueError(f"not a version: {text!r}")
    version = Version(int(part) for part in numbers[1].split("."))
    version.written = numbers[1]
    return version


def to_int_list(text: str) -> Value:
    """A tuple of ints from ``[0, 3]``, ``0,3``, ``0-3,7`` or ``0 3``."""
    numbers: list[Value] = []
    for match in _RANGE.finditer(text):
        low, high = int(match[1]), int(match[2] or match[1])
        if high - low > 65536:
            raise ValueError(f"range too long: {match[0]!r}")
        numbers.extend(range(low, high + 1))
    if not numbers:
        raise ValueError(f"no numbers in {text!r}")
    return tuple(numbers)


def to_tasks(text: str) -> Value:
    """A tuple of task numbers from names like ``/job:jax_worker/replica:0/task:3``."""
    numbers: tuple[Value, ...] = tuple(sorted({int(number) for number in re.findall(r"\btask:(\d+)", text)}))
    if not numbers:
        raise ValueError(f"no tasks in {text!r}")
    return numbers


def to_pci(text: str) -> Value:
    """A PCI bus id in the kernel's spelling ``0000:9b:00.0``, whatever width was printed."""
    match = _PCI.search(text.strip())
    if match is None:
        raise ValueError(f"not a PCI bus id: {text!r}")
    domain = int(match[1] or "0", 16)
    return f"{domain:04x}:{int(match[2], 16):02x}:{int(match[3], 16):02x}.{match[4] or '0'}"


def to_nccl_bus(text: str) -> Value:
    """A PCI bus id from NCCL's hexadecimal ``busId``: ``9b000`` is ``0000:9b:00.0``."""
    number = int(text, 16)
    domain, bus, device = number >> 20, (number >> 12) & 0xFF, (number >> 4) & 0xFF
    return f"{domain:04x}:{bus:02x}:{device:02x}.{number & 0xF:x}"


def to_shape(text: str) -> Value:
    """A tensor shape as a tuple of ints; the empty shape is a scalar."""
    return tuple(int(part) for part in re.findall(r"-?\d+", text))


def to_text(text: str) -> Value:
    """The text as it stands."""
    return text


def to_host(text: str) -> Value:
    """A host name or address without brackets, port or trailing dot."""
    host = text.strip().strip("[]()").rstrip(".,")
    if "<" in host:
        host = host.split("<", 1)[0]
    return host.removeprefix("::ffff:")


CONVERTERS: Mapping[str, Callable[[str], Value]] = {
    "str": to_text,
    "int": to_int,
    "hex": to_hex,
    "float": to_float,
    "bool": to_bool,
    "bytes": to_bytes,
    "kib": to_kilobytes,
    "seconds": to_seconds,
    "ms": to_milliseconds,
    "version": to_version,
    "rank": to_int,
    "ranks": to_int_list,
    "tasks": to_tasks,
    "shape": to_shape,
    "host": to_host,
    "pci": to_pci,
    "nccl-bus": to_nccl_bus,
}
"""Field types by the name that rules use."""


def show(value: Value, kind: str = "str") -> str:
    """``value`` as a person reads it: ``8.00 GiB``, ``600 s``, ``0, 3-5``, ``2.11.0``."""
    if value is None:
        return "unknown"
    if kind in {"bytes", "kib"} and isinstance(value, int | float):
        return _show_bytes(value)
    if kind in {"seconds", "ms"} and isinstance(value, int | float):
        return _show_seconds(float(value))
    if isinstance(value, tuple):
        if kind == "version":
            written = value.written if isinstance(value, Version) else ""
            return written or ".".join(str(part) for part in value)
        if kind == "shape":
            return "[" + ", ".join(str(part) for part in value) + "]"
        return show_ranks([part for part in value if isinstance(part, int)]) or ", ".join(
            str(part) for part in value
        )
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def show_ranks(numbers: list[int]) -> str:
    """Numbers with runs folded: ``0-3, 7``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(
        str(low) if low == high else f"{low}-{high}" if high > low + 1 else f"{low}, {high}"
        for low, high in runs
    )


def _show_bytes(value: float) -> str:
    for unit, size in (("EiB", 6), ("TiB", 4), ("GiB", 3), ("MiB", 2), ("KiB", 1)):
        if abs(value) >= KIB**size:
            return f"{value / KIB**size:.2f} {unit}"
    return f"{value:.0f} B"


def _show_seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.0f} s" if value == int(value) or value >= 100 else f"{value:.1f} s"
