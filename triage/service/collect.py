"""A receipt at the start of a job: launch, environment (masked), topology, versions, in under a second."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

from triage.receipts import mask_argv, mask_environment, masked
from triage.service.commands import finish, start
from triage.service.preflight.model import Report
from triage.service.versions import library_versions

SECONDS = 0.7
"""Time for the commands that ask the driver; what has not answered by then is left out."""

_RELEVANT = re.compile(
    r"(?:NCCL|TORCH|TORCHINDUCTOR|PYTORCH|CUDA|CUBLAS|CUDNN|NVSHMEM|OMP|MKL|KMP|SLURM|PMI|PMIX|OMPI|UCX|FI|GLOO"
    r"|HF|HUGGINGFACE|TRANSFORMERS|ACCELERATE|FSDP|DEEPSPEED|DS|MEGATRON|NEMO|VLLM|SGLANG|SGL|TRTLLM|TLLM|TRITON|RAY"
    r"|XLA|JAX|TF|WANDB|MC|NIXL|TP|LD|CONDA|PYTHON|XDG|SINGULARITY|APPTAINER|KUBERNETES|POD|JOB|AWS_OFI|FLASHINFER)_"
    r"|(?:RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|NODE_RANK|GROUP_RANK|MASTER_ADDR|MASTER_PORT|TMPDIR|PATH|VIRTUAL_ENV"
    r"|PYTHONPATH|HOSTNAME|NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|NVIDIA_IMEX_CHANNELS|JOB_ID|GPU_DEVICE_ORDINAL|TOKENIZERS_PARALLELISM)$"
)
_SLURM = {
    "job_id": "SLURM_JOB_ID",
    "partition": "SLURM_JOB_PARTITION",
    "nodes": "SLURM_JOB_NUM_NODES",
    "nodelist": "SLURM_JOB_NODELIST",
    "tasks": "SLURM_NTASKS",
    "tasks_per_node": "SLURM_NTASKS_PER_NODE",
    "gpus_on_node": "SLURM_GPUS_ON_NODE",
    "restart_count": "SLURM_RESTART_COUNT",
    "cluster": "SLURM_CLUSTER_NAME",
}
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "tp": ("--tp", "--tp-size", "--tensor-parallel-size", "--tensor-model-parallel-size", "-tp"),
    "pp": ("--pp", "--pp-size", "--pipeline-parallel-size", "--pipeline-model-parallel-size", "-pp"),
    "nproc_per_node": ("--nproc-per-node", "--nproc", "--num-gpus", "--ntasks-per-node"),
    "nodes": ("--nnodes", "--num-nodes", "--nodes", "-N"),
}


def collect(
    command: Sequence[str] = (), *, environment: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> dict[str, Any]:
    """The receipt of a job that is about to start here, free of secrets.

    Args:
        command: the job's command line; it is recorded, not run.
        environment: the environment to record; this process's by default. Only variables that bear on
            distributed GPU jobs are kept.
        seconds: time for asking the driver.
    """
    given = os.environ if environment is None else environment
    topology = start(("nvidia-smi", "topo", "-m"))
    began = time.monotonic()
    receipt: dict[str, Any] = {
        "run_id": given.get("TORCHELASTIC_RUN_ID") or given.get("SLURM_JOB_ID"),
        "host": socket.gethostname(),
        "collected_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "launch": launch_of(command, given),
        "env": mask_environment({k: v for k, v in sorted(given.items()) if _RELEVANT.match(k)}),
        "versions": library_versions(),
        "slurm": {k: given[name] for k, name in _SLURM.items() if name in given},
    }
    answer = finish(topology, seconds - (time.monotonic() - began))
    if answer.problem is None and answer.text.strip():
        _place(receipt, answer.text)
    return masked({k: v for k, v in receipt.items() if v not in (None, {}, [])})


def launch_of(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """World size and parallelism by the command line, else by the environment, else left out."""
    launch: dict[str, Any] = {"argv": mask_argv(command)} if command else {}
    for name, flags in _FLAGS.items():
        value = _flag(command, flags)
        if value is not None:
            launch[name] = value
    stated = {
        "nproc_per_node": "LOCAL_WORLD_SIZE",
        "world_size": "WORLD_SIZE",
        "nodes": "SLURM_JOB_NUM_NODES",
    }
    for name, variable in stated.items():
        given = environment.get(variable, "")
        if name not in launch and given.isdigit():
            launch[name] = int(given)
    if "world_size" not in launch:
        if "nproc_per_node" in launch:
            launch["world_size"] = launch["nproc_per_node"] * launch.get("nodes", 1)
        elif environment.get("SLURM_NTASKS", "").isdigit():
            launch["world_size"] = int(environment["SLURM_NTASKS"])
    return launch


def _flag(command: Sequence[str], flags: Sequence[str]) -> int | None:
    """The number after a flag; ranges such as ``1:4`` and words such as ``gpu`` are unknown."""
    for i, word in enumerate(command):
        name, equals, value = word.partition("=")
        if name.replace("_", "-") in flags:
            if not equals:
                value = command[i + 1] if i + 1 < len(command) else ""
            if value.isdigit() and len(value) < 8:
                return int(value)
    return None


def _place(receipt: dict[str, Any], text: str) -> None:
    """The topology, and which adapter lies nearest to each GPU."""
    from triage.readers.topology_model import parse_matrix
    from triage.text import sanitize

    receipt["topology"] = sanitize(text).rstrip() + "\n"
    topology = parse_matrix(receipt["topology"])
    near = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4}
    best: dict[str, tuple[int, str]] = {}
    for (gpu, adapter), path in topology.adapters.items() if topology is not None else ():
        name = topology.aliases.get(adapter, adapter) if topology is not None else adapter
        best[f"GPU{gpu}"] = min(best.get(f"GPU{gpu}", (9, "")), (near.get(path, 8), name))
    if best:
        receipt["gpu_nic_affinity"] = {gpu: name for gpu, (_, name) in sorted(best.items())}


def with_preflight(report: Report, command: Sequence[str] = ()) -> dict[str, Any]:
    """A receipt that carries a preflight."""
    receipt = collect(command)
    if report.topology and "topology" not in receipt:
        _place(receipt, report.topology)
    versions = {
        **receipt.get("versions", {}),
        **report.facts.get("versions", {}),
        **report.facts.get("torch_versions", {}),
    }
    if versions:
        receipt["versions"] = versions
    receipt["preflight"] = report.to_dict()
    return masked(receipt)
