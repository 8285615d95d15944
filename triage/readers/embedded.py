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
from triage.readers.marks import Marks

_MARKS: tuple[tuple[str, str, tuple[bytes, ...], bytes], ...] = (
    (
        "topology",
        "topology",
        (b"GPU0\t", b"GPU0 ", b"GPU1\t", b"GPU1 "),
        rb"\bGPU\d+[ \t]+(?:X|NV\d+|SYS|NODE|PHB|PXB|PIX)[ \t\r\n]",
    ),
    (
        "p2p",
        "p2p",
        (b"GPU0\t", b"GPU0 ", b"GPU1\t", b"GPU1 "),
        rb"\bGPU\d+[ \t]+(?:X[ \t]+)?(?:OK|CNS|GNS|TNS|NS)[ \t\r\n]",
    ),
    ("nvlink", "nvlink", (b"Link 0: ", b"NVLink information as all"), b""),
    (
        "nvidia-smi",
        "nvidia_smi",
        (b"NVIDIA-SMI ", b"NVSMI LOG", b"(UUID: GPU-", b"memory.total", b"pci.bus_id"),
        rb"NVIDIA-SMI \d|NVSMI LOG|\(UUID: GPU-|\w, ?(?:memory\.total|pci\.bus_id)"
        rb"|(?:memory\.total|pci\.bus_id).{0,9},",
    ),
    ("dmon", "smi_dmon", (b"# gpu", b"#gpu", b"#Date"), rb"^\s*#\s*(?:Date\s+Time\s+)?gpu\s"),
    ("dcgm", "dcgm", (b"| Diagnostic ", b"Health Monitor Report", b"NvLink Link Status"), b""),
    (
        "ibstat",
        "infiniband",
        (b"CA '", b"hca_id:", b"Infiniband device '", b"counters: Lid", b"/class/infiniband/"),
        rb"CA '\w|hca_id:|Infiniband device '|# Port (?:extended )?counters|/class/infiniband/",
    ),
    ("nccl-tests", "nccl_tests", (b"nThread ",), rb"#\s*nThread \d"),
    (
        "host",
        "host",
        (b"Filesystem ", b"buff/cache", b"MemAvailable:", b"locked memory", b"Architecture:"),
        rb"^\s*Filesystem\s|buff/cache|^MemAvailable:|locked memory|^\s*Architecture:",
    ),
    ("kubernetes", "kubernetes", (b"kubelet ", b"default-scheduler ", b"LAST SEEN", b" RESTARTS "), b""),
    ("lspci", "lspci", (b"LnkSta:",), b""),
    ("ray-status", "ray_status", (b"Autoscaler status: ", b"Cluster status: "), b""),
    (
        "sacct",
        "slurm_text",
        (b"JobID|", b"JobID ", b"JobIDRaw", b"JobState=", b"NodeName="),
        rb"^\s*JobID(?:Raw)?[| ]|\bJobState=[A-Z]|\bNodeName=\S",
    ),
    ("pyspy", "pyspy", (b'"MainThread"', b'\\"MainThread\\"'), b""),
    (
        "kernel-log",
        "kernel_log",
        (
            b"kernel: ",
            b"NVRM: ",
            b"mlx5_",
            b"ACPI",
            b"Linux version ",
            b"systemd[1]",
            b" kernel.",
            b"nvidia",
            b"amdgpu ",
            b"EXT4-fs",
        ),
        rb"^.{0,40}\[ {0,8}\d{1,8}\.\d{6}\]|^.{0,16}\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|^.{15,40} (?:kernel|systemd\S*): ",
    ),
)
"""Kind, module, literals of which such output has at least one, and a pattern that confirms them."""
_words = Marks(literal for _, _, literals, _ in _MARKS for literal in literals)
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
    there = _words.within(data)
    for kind, module, literals, pattern in _MARKS:
        if kind in skip or not any(literal in there for literal in literals):
            continue
        if not pattern or re.search(pattern, data, re.MULTILINE):
            reader = import_module(f"triage.readers.{module}")
            yield from reader.findings_in(data, source, index, line, offset)


def with_neighbours(reading: Reading, data: bytes, source: Source, index: int) -> Reading:
    """``reading``, and what other readers find in the same capture: one file often holds several outputs."""
    skip = frozenset({_SAME.get(reading.kind, reading.kind)})
    extra = findings_in(data, source, index, skip=skip)
    return replace(reading, findings=(*reading.findings, *extra)) if extra else reading
