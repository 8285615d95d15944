"""Dumps of the environment: ``env``, ``printenv -0``, ``/proc/PID/environ``, ``export -p``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of
from triage.rules.fields import to_version
from triage.text import is_secret_name, safe

KIND = "environment"
MAX_VARIABLES = 5_000
MAX_VALUE = 400

_LINE = re.compile(
    r"(?:declare -x |export |typeset -x )?(?P<name>[A-Za-z_][A-Za-z0-9_]{0,127})=(?P<value>.*)$", re.DOTALL
)
_KEPT = re.compile(
    r"(?:NCCL|TORCH|PYTORCH|TORCHELASTIC|CUDA|CUBLAS|CUDNN|NVIDIA|NVSHMEM|NVTE|SLURM|SLURMD|SBATCH|PMI|PMIX|OMPI|MPI|MPICH|UCX|FI"
    r"|GLOO|TP|RDMAV|OMP|MKL|KMP|HF|TRANSFORMERS|HUGGINGFACE|ACCELERATE|FSDP|VLLM|SGLANG|SGL|TRTLLM|TLLM|RAY|DEEPSPEED|DS|NVTX"
    r"|MEGATRON|XLA|TRITON|TORCHINDUCTOR|INDUCTOR|LOCAL|GROUP|ROLE|MASTER|RDZV|FLASHINFER|LMCACHE|MOONCAKE|NIXL|AWS_OFI|OFI)_\w+$"
    r"|(?:RANK|WORLD_SIZE|LOCAL_RANK|NODE_RANK|NNODES|HOSTNAME|TMPDIR|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|PYTHONFAULTHANDLER"
    r"|PYTHONUNBUFFERED|CONDA_DEFAULT_ENV|VIRTUAL_ENV|XDG_CACHE_HOME|KUBERNETES_SERVICE_HOST|(?i:https?_proxy|no_proxy|all_proxy))$"
)
"""Variables that say something about a distributed job; the rest is nobody's business."""
_FAMILIAR = re.compile(
    r"(?:PATH|HOME|PWD|USER|SHELL|LANG|SLURM_JOB_ID|SLURM_\w+|NCCL_\w+|CUDA_\w+|RANK|WORLD_SIZE|MASTER_ADDR)$"
)


class EnvironmentReader:
    """Reads dumps of environment variables."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source such a dump?"""
        entries = list(_entries(head[:65536]))
        if len(entries) < 3 or not any(_FAMILIAR.match(entry) for entry, _, _ in entries):
            return False
        if _separated(head):
            return True
        lines = [line.text for line in lines_of(head[:65536]) if line.text.strip()]
        return len(entries) >= 0.8 * len(lines)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Record what matters to a distributed job; secrets are masked."""
        found = Findings(source, index, KIND)
        values: dict[str, str] = {}
        first: Line | None = None
        for name, value, line in _entries(data):
            if name not in values and len(values) < MAX_VARIABLES:
                values[name] = value
                first = first or line
                _variable(found, name, value, line)
        if first is None:
            found.note("no environment variable could be read")
            found.complete = False
        else:
            _identity(found, values, first)
        return found.reading()


def variables(data: bytes | str) -> dict[str, str]:
    """All variables of a dump, unmasked; the first value of each."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    found: dict[str, str] = {}
    for name, value, _ in _entries(raw):
        found.setdefault(name, value)
    return found


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for a dump that is a piece of a source; a few assignments in a log are none."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    reader = EnvironmentReader()
    return reader.read(raw, source, index).findings if reader.recognise(source.name, raw) else ()


def _separated(data: bytes) -> bool:
    return data.count(b"\0", 0, 65536) >= 3


def _entries(data: bytes) -> Iterator[tuple[str, str, Line]]:
    """``(name, value, line)`` of every assignment, in order; continued lines of a value are left out."""
    if _separated(data):
        offset = 0
        for number, part in enumerate(data.split(b"\0", MAX_VARIABLES)):
            text = part.decode("utf-8", "replace")
            match = _LINE.match(text)
            if match:
                yield match["name"], match["value"], Line(number + 1, offset, text[:2000])
            offset += len(part) + 1
        return
    for line in lines_of(data):
        match = _LINE.match(line.text)
        if match:
            yield match["name"], _unquoted(match["value"]), line


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _variable(found: Findings, name: str, value: str, line: Line) -> None:
    if not _KEPT.match(name):
        return
    shown = safe(f"{name}={value}", MAX_VALUE).partition("=")[2]
    if is_secret_name(name):
        shown = "***" if value else ""
    found.add("env.variable", [line], {"name": name, "value": shown})


def _identity(found: Findings, values: Mapping[str, str], line: Line) -> None:
    rank = _number(values, "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
    known: dict[str, Value] = {
        "rank": rank,
        "world_size": _number(values, "WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"),
        "local_rank": _number(values, "LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"),
        "host": _host(values),
    }
    if any(value is not None for value in known.values()):
        host = known["host"]
        found.add("env.identity", [line], known, rank=rank, host=host if isinstance(host, str) else None)
    job = values.get("SLURM_JOB_ID") or values.get("SLURM_JOBID")
    if job and job.isdigit() and len(job) < 16:
        nodes = _number(values, "SLURM_JOB_NUM_NODES", "SLURM_NNODES")
        found.add("env.job", [line], {"job_id": job, "nodes": nodes})
    versions: dict[str, Value] = {
        key: _version(values.get(name, ""))
        for key, name in (("nccl", "NCCL_VERSION"), ("cuda", "CUDA_VERSION"), ("torch", "PYTORCH_VERSION"))
    }
    if any(versions.values()):
        found.add("env.version", [line], versions)


def _number(values: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        value = values.get(name, "").strip()
        if value.isdigit() and len(value) < 8:
            return int(value)
    return None


def _host(values: Mapping[str, str]) -> str | None:
    for name in ("SLURMD_NODENAME", "HOSTNAME"):
        value = values.get(name, "").strip()
        if re.fullmatch(r"[\w.-]{1,128}", value):
            return value
    return None


def _version(text: str) -> Value:
    try:
        return to_version(text) if text else None
    except ValueError:
        return None
