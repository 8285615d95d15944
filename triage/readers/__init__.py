"""Readers of structured inputs, one module per kind, imported only when an input may need it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from triage.readers.marks import Marks

if TYPE_CHECKING:
    from triage.readers.base import Reader

__all__ = ["READERS", "Entry", "recognise"]


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """A kind of input: where its reader is, and a cheap look that rules out most other inputs."""

    kind: str
    module: str
    reader: str
    """Name of the reader's class in ``module``."""
    may_be: Callable[[str, bytes, Container[bytes]], bool]
    """From a source's name, its first bytes and the marks in them, without importing anything: is it worth a closer look?"""

    def load(self) -> Reader:
        """The reader itself."""
        return cast("Reader", getattr(import_module(self.module), self.reader)())


def _begins_json(head: bytes) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?\s*[{\[]", head) is not None


def _may_be_flight_recorder(name: str, head: bytes, there: Container[bytes]) -> bool:
    if _begins_json(head):
        return b'"profiling_name"' in head or b'"pg_config"' in head
    # a pickle begins with its protocol; without one (protocol 0), only the name makes it worth a look
    return head[:1] == b"\x80" or re.search(r"trace_rank_?\d+$|_dump_\d+$", name) is not None


def _may_be_elastic_error(name: str, head: bytes, there: Container[bytes]) -> bool:
    return re.match(rb'\s*\{\s*"message"\s*:', head) is not None


def _may_be_nvidia_smi(name: str, head: bytes, there: Container[bytes]) -> bool:
    if any(word in there for word in _SMI_WORDS) and re.search(_SMI, head, re.MULTILINE):
        return True
    # a line that begins with the names of columns: what begins with a line's end is found sooner than what follows one
    return re.match(_SMI_COLUMNS, head) is not None or re.search(b"\n" + _SMI_COLUMNS, head) is not None


_SMI = rb"NVIDIA-SMI \d|NVSMI LOG|\(UUID: |^GPU [0-9A-F]{8}:"
_SMI_WORDS = (b"NVIDIA-SMI ", b"NVSMI LOG", b"(UUID: ", b"GPU ")
_SMI_COLUMNS = rb"[a-z_.]+(?: \[[\w%]+\])?, *[a-z_.]+"
_WORDS: list[bytes] = [*_SMI_WORDS]
"""What is looked for in the beginning of each source."""


def _has(pattern: bytes, *words: bytes) -> Callable[[str, bytes, Container[bytes]], bool]:
    """A look for a mark that every input of a kind has near its beginning.

    Without one of ``words`` the pattern can't match: searching for a pattern with many beginnings takes long.
    """
    _WORDS.extend(words)

    def look(name: str, head: bytes, there: Container[bytes]) -> bool:
        if not any(word in there for word in words):
            return False
        return re.search(pattern, head, re.MULTILINE) is not None

    return look


READERS: tuple[Entry, ...] = (
    Entry(
        "flight-recorder", "triage.readers.flight_recorder", "FlightRecorderReader", _may_be_flight_recorder
    ),
    Entry("elastic-error", "triage.readers.elastic_error", "ElasticErrorReader", _may_be_elastic_error),
    Entry(
        "topology",
        "triage.readers.topology",
        "TopologyReader",
        _has(rb"\bGPU0[ \t]+(?:GPU1|X|CPU)\b", b"GPU0"),
    ),
    Entry("p2p", "triage.readers.p2p", "P2pReader", _has(rb"\bGPU0[ \t]+(?:GPU1|X)\b", b"GPU0")),
    Entry(
        "nvlink",
        "triage.readers.nvlink",
        "NvlinkReader",
        _has(rb"\bLink \d+: |NVLink information as all", b"Link "),
    ),
    Entry("nvidia-smi", "triage.readers.nvidia_smi", "NvidiaSmiReader", _may_be_nvidia_smi),
    Entry(
        "dmon", "triage.readers.smi_dmon", "DmonReader", _has(rb"^\s*#\s*(?:Date\s+Time\s+)?gpu\b", b"gpu")
    ),
    Entry(
        "dcgm",
        "triage.readers.dcgm",
        "DcgmReader",
        _has(
            rb"\| Diagnostic |Health Monitor Report|NvLink Link Status|\"DCGM ",
            *(b"| Diagnostic ", b"Health Monitor Report", b"NvLink Link Status", b'"DCGM '),
        ),
    ),
    Entry(
        "ibstat",
        "triage.readers.infiniband",
        "InfinibandReader",
        _has(
            rb"CA '\w|hca_id:|Infiniband device '|# Port (?:extended )?counters|/class/infiniband/| ==> "
            rb"|\blink \w+/\d+ |:[0-9a-f]{4}:[0-9a-f]{4}\s",
            *(b"CA '", b"hca_id:", b"Infiniband device", b"counters", b"/infiniband/", b" ==> ", b"link "),
            *(b"fe80:", b":0000:"),
        ),
    ),
    Entry(
        "nccl-tests", "triage.readers.nccl_tests", "NcclTestsReader", _has(rb"#\s*nThread \d", b"nThread ")
    ),
    Entry(
        "host",
        "triage.readers.host",
        "HostReader",
        _has(
            rb"^Filesystem\s|^\s+total\s+used|^MemTotal:|-l\)\s|locked memory|^\s*Architecture:",
            *(b"Filesystem", b"  used", b"MemTotal:", b"-l)", b"locked memory", b"Architecture:"),
        ),
    ),
    Entry(
        "kubernetes",
        "triage.readers.kubernetes",
        "KubernetesReader",
        _has(
            rb"kubelet|default-scheduler|^LAST SEEN|\"involvedObject\"|containerStatuses|^Status:\s"
            rb"|^\s+Exit Code:",
            *(b"kubelet", b"default-scheduler", b"LAST SEEN", b'"involvedObject"', b"containerStatuses"),
            *(b"Status:", b"Exit Code:"),
        ),
    ),
    Entry(
        "ray-status",
        "triage.readers.ray_status",
        "RayStatusReader",
        _has(rb"(?:Autoscaler|Cluster) status: ", b" status: "),
    ),
    Entry(
        "sacct",
        "triage.readers.slurm_text",
        "SacctReader",
        _has(rb"^\s*JobID(?:Raw)?[| ]|\"derived_exit_code\"", b"JobID", b"derived_exit_code"),
    ),
    Entry(
        "scontrol",
        "triage.readers.slurm_text",
        "ScontrolReader",
        _has(rb"^\s*(?:JobId=\d|NodeName=\S)", b"JobId=", b"NodeName="),
    ),
    Entry(
        "pyspy",
        "triage.readers.pyspy",
        "PyspyReader",
        _has(rb"Thread \S+ \([a-z+]+\): \"|\"thread_name\"", b"Thread ", b"thread_name"),
    ),
    Entry(
        "environment",
        "triage.readers.environment",
        "EnvironmentReader",
        _has(
            rb"(?:^|\0)(?:declare -x |export )?(?:PATH|HOME|PWD|USER|SLURM_JOB_ID|RANK|WORLD_SIZE)=",
            *(b"PATH=", b"HOME=", b"PWD=", b"USER=", b"SLURM_JOB_ID=", b"RANK=", b"WORLD_SIZE="),
        ),
    ),
)
"""Every kind, in the order in which they are tried."""


_marks = Marks(_WORDS)


def recognise(name: str, head: bytes) -> Reader | None:
    """The reader for a source called ``name`` that begins with ``head``; None when it is a log."""
    there = _marks.within(head)
    for entry in READERS:
        if entry.may_be(name, head, there):
            reader = entry.load()
            if reader.recognise(name, head):
                return reader
    return None
