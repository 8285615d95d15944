"""State of the host: ``free``, ``df``, ``ulimit -a``, ``/proc/PID/limits`` and ``lscpu``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.host_limits import (
    UNLIMITED,
    is_limit_line,
    is_processor_line,
    limit_of,
    limits,
    processors,
)
from triage.readers.host_memory import (
    DF_HEADER,
    DF_ROW,
    FREE_HEADER,
    FREE_ROW,
    MEMINFO,
    FileSystem,
    file_systems,
    memory,
)

KIND = "host"
LOW_MEMORY = 0.02
"""Share of memory below which a host is about to kill something."""
FULL = 99
"""Percent in use from which a file system counts as full."""
SMALL_SHM = 1 << 30
"""Bytes of /dev/shm that are too few for collectives and data loaders; containers get 64 MiB."""
LOW_MEMLOCK = 1 << 30
"""Bytes of locked memory that are too few to register buffers with an RDMA adapter."""


class HostReader:
    """Reads captures of commands that describe a host."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source such a capture?"""
        if not mostly(head, _begins, _belongs):
            return False
        lines = lines_of(head[:65536])
        return bool(memory(lines) or file_systems(lines) or limits(lines) or processors(lines)[0])

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Record memory, file systems, limits and processors, and what is short."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for such output in a piece of a source that begins at ``line`` and ``offset``."""
    return _read(lines_of(text, line, offset), source, index).findings


def _begins(text: str) -> bool:
    return bool(
        FREE_HEADER.match(text)
        or DF_HEADER.match(text)
        or limit_of(text)
        or re.match(r"\s*Architecture:\s+\S+\s*$", text)
        or re.match(r"\s*(?:Limit\s+Soft Limit|MemTotal:)", text)
    )


def _belongs(text: str) -> bool:
    return bool(
        _begins(text)
        or FREE_ROW.match(text)
        or DF_ROW.match(text)
        or is_processor_line(text)
        or is_limit_line(text)
        or MEMINFO.match(text)
    )


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    _memory(found, lines)
    for system in file_systems(lines):
        _file_system(found, system)
    _limits(found, lines)
    facts, line = processors(lines)
    if line is not None:
        found.add("host.processors", [line], facts)
    if not found.items:
        found.note("nothing about the host could be read")
        found.complete = False
    return found.reading()


def _memory(found: Findings, lines: Sequence[Line]) -> None:
    for row in memory(lines):
        if row.what != "Mem":
            continue
        fields: dict[str, Value] = {"total": row.total, "used": row.used, "available": row.available}
        found.add("host.memory", [row.line], fields)
        if row.available is not None and row.total > 0 and row.available < LOW_MEMORY * row.total:
            found.add("host.memory-low", [row.line], fields)


def _file_system(found: Findings, system: FileSystem) -> None:
    fields: dict[str, Value] = {
        "mount": system.mount,
        "device": system.device,
        "size": None if system.inodes else system.size,
        "free": None if system.inodes else system.free,
        "share": system.share,
        "inodes": system.inodes,
    }
    found.add("host.file-system", [system.line], fields)
    full = system.share is not None and system.share >= FULL
    if system.mount == "/dev/shm" and not system.inodes:  # noqa: S108 (a mount point to look for)
        if full:
            found.add("host.shm-exhausted", [system.line], fields)
        elif 0 < system.size < SMALL_SHM:
            found.add("host.shm-small", [system.line], fields)
    elif full and system.matters:
        rule = "host.inodes-exhausted" if system.inodes else "host.file-system-full"
        found.add(rule, [system.line], fields)


def _limits(found: Findings, lines: Sequence[Line]) -> None:
    known = limits(lines)
    if not known:
        return
    fields: dict[str, Value] = {name: value for name, (value, _) in known.items()}
    found.add("host.limits", [line for _, line in known.values()], fields)
    memlock = known.get("memlock")
    if memlock is not None and memlock[0] != UNLIMITED and memlock[0] < LOW_MEMLOCK:
        found.add("host.memlock-low", [memlock[1]], {"memlock": memlock[0]})
