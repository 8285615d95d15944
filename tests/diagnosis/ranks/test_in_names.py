"""Leader and worker pods: ``vllm-0`` is the first of ``vllm-0-1``, ``vllm-0-2`` and so on."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.diagnosis.ranks.in_names import leader_of, without_container

FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of "
    "which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated "
    "memory 76.10 GiB is allocated by PyTorch, and 110.11 MiB is reserved by PyTorch but unallocated."
)
LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.58]:5651"


def said(error: str) -> list[str]:
    """What an engine's process logs from its start to its end."""
    stamp = "ERROR 07-28 03:05:20 [worker_base.py:212] "
    return [
        "INFO 07-28 03:00:02 [__init__.py:241] Automatically detected platform cuda.",
        "INFO 07-28 03:00:11 [gpu_model_runner.py:2602] Starting to load model /models/m...",
        stamp + "Traceback (most recent call last):",
        stamp
        + '  File "/usr/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", line 30, in load_model',
        stamp + "    self.model_runner.load_model()",
        stamp + error,
    ]


def of_files(engine: Engine, names: list[str], guilty: str, form: str = "{}.log") -> int | None:
    logs = {form.format(n): "\n".join(said(FULL if n == guilty else LOST)) + "\n" for n in names}
    root = engine.diagnose([Source(n, path=None, data=t.encode()) for n, t in logs.items()]).root_cause
    assert root is not None and root.category == "gpu-oom"
    return root.origin.rank


def of_stream(engine: Engine, leads: list[str], guilty: int) -> int | None:
    lines = [lead + line for lead in leads for line in said("")[:2]]
    lines += [leads[guilty] + line for line in said(FULL)[2:]]
    lines += [lead + line for lead in leads if lead != leads[guilty] for line in said(LOST)[2:]]
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and root.category == "gpu-oom"
    return root.origin.rank


PODS = ["vllm-0", "vllm-0-1", "vllm-0-2", "vllm-0-3"]


@pytest.mark.parametrize("form", ["{}.log", "{}/current.log"])
@pytest.mark.parametrize("guilty", [0, 3])
def test_logs_of_leader_and_workers(engine: Engine, form: str, guilty: int) -> None:
    assert of_files(engine, PODS, PODS[guilty], form) == guilty


def test_lines_of_leader_and_workers(engine: Engine) -> None:
    assert of_stream(engine, [f"[pod/{pod}/vllm] " for pod in PODS], 2) == 2
    assert of_stream(engine, [f"{pod} vllm " for pod in PODS], 2) == 2


def test_the_leader_s_container_may_be_called_otherwise(engine: Engine) -> None:
    leads = [f"[pod/{pod}/{'worker' if i else 'leader'}] " for i, pod in enumerate(PODS)]
    assert of_stream(engine, leads, 1) == 1


def test_of_several_groups_none_is_the_job(engine: Engine) -> None:
    pods = ["vllm-0", "vllm-0-1", "vllm-1", "vllm-1-1"]
    assert of_files(engine, pods, "vllm-1-1") is None
    assert of_stream(engine, [f"[pod/{pod}/vllm] " for pod in pods], 3) is None


def test_what_is_missing_among_them_may_have_been_anybody(engine: Engine) -> None:
    assert of_files(engine, ["vllm-0", "vllm-0-3", "vllm-0-5"], "vllm-0-3") is None


def test_names() -> None:
    assert leader_of("vllm-0-\0.log") == "vllm-0.log"
    assert leader_of("vllm-0-\0:worker") == leader_of("vllm-0-\0:other") == without_container("vllm-0:leader")
    assert leader_of("worker-\0.log") is None
