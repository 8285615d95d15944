"""Command output inside something else: a matrix pasted into a job log, a report of several commands.

``findings_in`` looks for the marks that such output cannot be without, and lets the readers whose
marks are there read the text; a text without marks costs a few searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from triage.model import Finding, Reading, Source

_MARKS: tuple[tuple[str, str, re.Pattern[bytes]], ...] = tuple(
    (kind, module, re.compile(pattern, re.MULTILINE))
    for kind, module, pattern in (
        ("topology", "topology", rb"\bGPU\d+[ \t]+(?:X|NV\d+|SYS|NODE|PHB|PXB|PIX)[ \t\r\n]"),
        ("p2p", "p2p", rb"\bGPU\d+[ \t]+(?:X[ \t]+)?(?:OK|CNS|GNS|TNS|NS)[ \t\r\n]"),
        ("nvlink", "nvlink", rb"\bLink 0: |NVLink information as all links"),
        ("nvidia-smi", "nvidia_smi", rb"NVIDIA-SMI \d|NVSMI LOG|\(UUID: GPU-|memory\.total|pci\.bus_id"),
        ("dmon", "smi_dmon", rb"^\s*#\s*gpu\s"),
        ("dcgm", "dcgm", rb"\| Diagnostic\s+\||Health Monitor Report|NvLink Link Status"),
        (
            "ibstat",
            "infiniband",
            rb"CA '\w|hca_id:|Infiniband device '|# Port (?:extended )?counters|/class/infiniband/",
        ),
        ("nccl-tests", "nccl_tests", rb"#\s*nThread \d"),
        ("host", "host", rb"^Filesystem\s|buff/cache|max locked memory|Max locked memory|^Architecture:"),
        ("kubernetes", "kubernetes", rb"\bkubelet\s|\bdefault-scheduler\s|^LAST SEEN\s"),
        ("ray-status", "ray_status", rb"(?:Autoscaler|Cluster) status: \d"),
        ("sacct", "slurm_text", rb"^\s*JobID(?:Raw)?[| ]|\bJobState=[A-Z]|\bNodeName=\S"),
        ("pyspy", "pyspy", rb"Thread \S+ \([a-z+]+\): \"MainThread\""),
    )
)
_SAME = {"scontrol": "sacct"}
"""Kinds that one entry above reads together with another."""


def findings_in(
    data: bytes,
    source: Source,
    index: int,
    line: int = 1,
    offset: int = 0,
    *,
    skip: frozenset[str] = frozenset(),
) -> tuple[Finding, ...]:
    """Findings of every kind of output in ``data`` but those in ``skip``.

    Args:
        data: a piece of the source, from the beginning of a line.
        line: number of its first line.
        offset: its position in the source, in bytes.
    """
    return tuple(_findings(data, source, index, line, offset, skip))


def _findings(
    data: bytes, source: Source, index: int, line: int, offset: int, skip: frozenset[str]
) -> Iterator[Finding]:
    for kind, module, mark in _MARKS:
        if kind not in skip and mark.search(data):
            reader = import_module(f"triage.readers.{module}")
            yield from reader.findings_in(data, source, index, line, offset)


def with_neighbours(reading: Reading, data: bytes, source: Source, index: int) -> Reading:
    """``reading``, and what other readers find in the same capture: one file often holds several outputs."""
    skip = frozenset({_SAME.get(reading.kind, reading.kind)})
    extra = findings_in(data, source, index, skip=skip)
    return replace(reading, findings=(*reading.findings, *extra)) if extra else reading
