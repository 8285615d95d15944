"""Limits of processes (``ulimit -a``, ``/proc/PID/limits``) and the processors of a host (``lscpu``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from triage.model import Value
from triage.readers.capture import Line

UNLIMITED = -1
"""How the facts spell "unlimited"."""

_BASH = re.compile(
    r"\s*(?P<name>[a-zA-Z][a-zA-Z /-]{3,40}?)\s*\((?:(?P<unit>[\w -]+), )?-(?P<flag>[a-zA-Z])\)"
    r"\s+(?P<value>unlimited|\d+)\s*$"
)
_DASH = re.compile(
    r"\s*(?P<name>time|file|data|stack|coredump|memory|locked memory|process|nofiles|vmemory|locks|rtprio)"
    r"\s*(?:\((?P<unit>\w+)\))?\s+(?P<value>unlimited|\d+)\s*$"
)
_PROC = re.compile(
    r"\s*Max (?P<name>[a-z][a-z ]{3,30}?)\s{2,}(?P<value>unlimited|\d+)\s+(?:unlimited|\d+)"
    r"\s*(?P<unit>[a-z]+)?\s*$"
)
_NAMES = {
    "max locked memory": "memlock", "locked memory": "memlock",
    "open files": "nofile", "nofiles": "nofile",
    "max user processes": "nproc", "process": "nproc", "processes": "nproc",
    "stack size": "stack", "stack": "stack",
    "core file size": "core", "coredump": "core",
    "virtual memory": "vmem", "vmemory": "vmem", "address space": "vmem",
    "max memory size": "rss", "memory": "rss",
    "file size": "fsize", "file": "fsize",
}  # fmt: skip
_SCALE = {"kbytes": 1024, "bytes": 1, "blocks": 1024}
_LSCPU = {
    "Architecture": "architecture", "CPU(s)": "cpus", "Model name": "model", "Socket(s)": "sockets",
    "NUMA node(s)": "numa_nodes", "Thread(s) per core": "threads_per_core", "Hypervisor vendor": "hypervisor",
    "On-line CPU(s) list": "online",
}  # fmt: skip
_COUNTS = frozenset({"cpus", "sockets", "numa_nodes", "threads_per_core"})


def limit_of(text: str) -> tuple[str, int] | None:
    """``(name, bytes or count)`` of a line that states a limit; None for any other line."""
    for pattern in (_BASH, _PROC, _DASH):
        match = pattern.match(text)
        if match is None:
            continue
        name = _NAMES.get(match["name"].strip())
        if name is None:
            continue
        if match["value"] == "unlimited":
            return name, UNLIMITED
        if len(match["value"]) > 20:
            return None
        unit = (match["unit"] or "").split(",")[0].strip()
        return name, int(match["value"]) * _SCALE.get(unit, 1)
    return None


def limits(lines: Sequence[Line]) -> dict[str, tuple[int, Line]]:
    """The limits that ``lines`` state, the first of each; at least three make a list of limits."""
    found: dict[str, tuple[int, Line]] = {}
    for line in lines:
        limit = limit_of(line.text)
        if limit is not None:
            found.setdefault(limit[0], (limit[1], line))
    return found if len(found) >= 3 else {}


def processors(lines: Sequence[Line]) -> tuple[Mapping[str, Value], Line | None]:
    """What ``lscpu`` says of the processors, and its first line."""
    facts: dict[str, Value] = {}
    first: Line | None = None
    for line in lines:
        name, colon, value = line.text.partition(":")
        key = _LSCPU.get(name.strip())
        if not colon or key is None or key in facts:
            continue
        value = value.strip()
        if key in _COUNTS:
            if not value.isdigit() or len(value) > 9:
                continue
            facts[key] = int(value)
        else:
            facts[key] = value[:120]
        first = first or line
    return (facts, first) if "cpus" in facts and len(facts) >= 3 else ({}, None)


_PROCESSOR = re.compile(
    r"\s*(?:Architecture|CPU|Address sizes|Byte Order|O(?:n|ff)-line|Vendor|BIOS|Model|Thread|Core|Socket"
    r"|Stepping|Frequency|BogoMIPS|Flags|Hypervisor|Virtualization|L\d[di]? cache|Caches|NUMA|Vulnerability)"
    r"\b[^:]{0,40}:"
)


def is_processor_line(text: str) -> bool:
    """Is this a line of ``lscpu``?"""
    return _PROCESSOR.match(text) is not None


def is_limit_line(text: str) -> bool:
    """Is this a line of a list of limits, be it one that the facts leave out?"""
    return any(pattern.match(text) for pattern in (_BASH, _DASH, _PROC))
