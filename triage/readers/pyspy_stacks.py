"""Stacks of Python processes as ``py-spy dump`` prints them, text or JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.readers.capture import Line, parsed_json
from triage.scan.prefix import split_line

MAX_JSON = 32 << 20
MAX_FRAMES = 400
MAX_THREADS = 20_000

_LEAD = r"(?:\S{1,80} +\| ?|\([^()\n]{1,100}\bpid=\d{1,10}[^()\n]{0,60}\) ?)?"
"""Who printed the dump, where containers or Ray say so before every line."""
PROCESS = re.compile(r"(?:^|\s)Process (?P<pid>\d{1,9}): (?P<command>.*)$")
THREAD = re.compile(
    r"(?:^|\s)Thread (?P<id>0x[0-9A-Fa-f]+|\d{1,12}) \((?P<state>[a-z]+(?:\+gil)?)\)"
    r"(?:: \"(?P<name>[^\"]{0,200})\")?\s*$"
)
FRAME = re.compile(
    _LEAD + r"\s+(?P<function>[\w.<>~:, ()*&\[\]-]{1,200}?) "
    r"\((?P<file>[^()\s][^()]{0,300}?)(?::(?P<line>\d{1,7}))?\)\s*$"
)

_LIBRARIES = frozenset(
    {"torch", "torchvision", "numpy", "vllm", "sglang", "transformers", "accelerate", "deepspeed", "megatron",
     "ray", "lightning", "lightning_fabric", "pytorch_lightning", "tensorrt_llm", "triton", "datasets",
     "tokenizers", "safetensors", "huggingface_hub", "flash_attn", "xformers", "apex", "transformer_engine",
     "uvicorn", "fastapi", "starlette", "zmq", "grpc", "tqdm", "pydantic", "mpi4py", "cupy", "nemo",
     "torchtitan"}
)  # fmt: skip
_INSTALLED = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python3[\d.]*)/(?P<rest>.+)$")
_COLLECTIVE = re.compile(
    r"torch/distributed/(?:distributed_c10d|c10d_logger|tensor/|_functional_collectives|_composable|fsdp|utils)"
    r"|torch/nn/parallel/distributed|pynccl|nccl|communication_op|parallel_state|deepspeed/comm|megatron/core/.*comm"
    r"|(?:custom|quick)_all_reduce|device_communicators|symm_mem|all2all|deep_ep/|libtorch_|libnccl"
)
_WAITS = re.compile(
    r"^(?:all_reduce|all_gather\w*|reduce_scatter\w*|broadcast\w*|barrier|monitored_barrier|all_to_all\w*|send|recv|reduce"
    r"|wait|scatter\w*|gather\w*|batch_isend_irecv|synchronize|ncclAllReduce|wait_stream|_wait"
    r"|(?:low_latency_|internode_|intranode_)?(?:dispatch|combine)|custom_all_reduce"
    r"|gloo::\S*::wait\w*|c10d::ProcessGroup\w+::\S*)$"
)
_ACTIVITIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "checkpoint",
        re.compile(
            r"torch/distributed/checkpoint|torch/serialization|save_checkpoint|_save_|checkpointing|safetensors"
        ),
    ),
    (
        "data-loading",
        re.compile(
            r"torch/utils/data|datasets/|streaming/|webdataset|_next_data|_try_get_data|_get_data|dataloader",
            re.I,
        ),
    ),
    (
        "compile",
        re.compile(
            r"torch/_inductor|torch/_dynamo|triton/compiler|triton/runtime/(?:jit|autotuner)"
            r"|torch/cuda/graphs|flashinfer/jit|cpp_extension|deep_gemm/jit/|tilelang/(?:jit|cache|engine)|tvm_ffi/cpp"
            r"|deep_gemm::\w*Compiler|cutlass/.*compiler|cutlass_dsl"
        ),
    ),
    (
        "model-loading",
        re.compile(
            r"model_loader|from_pretrained|load_state_dict|weight_utils|hf_hub_download|snapshot_download"
        ),
    ),
)


_HANDED = re.compile(r"\(forward_thread_func\)$")
"""The thread in which SGLang runs the model while its main thread schedules."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: function, file as printed, line (None for native code)."""

    function: str
    file: str
    line: int | None

    @property
    def library(self) -> bool:
        """Is it installed code or the standard library, rather than the user's?"""
        installed = _INSTALLED.search(self.file)
        path = installed["rest"] if installed else self.file
        if installed or path.startswith("<") or not path.endswith(".py"):
            return True
        first = path.lstrip("/").split("/")[0].removesuffix(".py")
        return not path.startswith("/") and (first in _LIBRARIES or first in sys.stdlib_module_names)

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.line else f"{self.function} ({self.file})"


@dataclass(slots=True)
class Thread:
    """One thread; frames are innermost first."""

    name: str
    state: str
    line: Line
    frames: list[Frame] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Process:
    """One process and its threads."""

    pid: int | None
    command: str
    line: Line
    threads: list[Thread] = field(default_factory=list)

    @property
    def main(self) -> Thread | None:
        """The thread that does the work: mostly the main one, or the one to which it has handed its batches."""
        handed = [t for t in self.threads if _HANDED.search(t.name)]
        named = [t for t in self.threads if t.name == "MainThread"]
        first = (handed or named or self.threads)[:1]
        return first[0] if first else None


def user_frame(thread: Thread) -> Frame | None:
    """The innermost frame of the user's own code."""
    return next((frame for frame in thread.frames if not frame.library), None)


def activity(thread: Thread) -> str:
    """What the thread is doing: collective, checkpoint, data-loading, compile, model-loading or other.

    A collective inside a checkpoint is a collective: what counts is what the thread waits for.
    """
    for frame in thread.frames[:25]:
        if _COLLECTIVE.search(frame.file) and (
            _WAITS.match(frame.function) or "nccl" in frame.function.lower()
        ):
            return "collective"
        for name, pattern in _ACTIVITIES:
            if pattern.search(f"{frame.file} {frame.function}"):
                return name
    return "other"


def from_text(lines: Sequence[Line]) -> list[Process]:
    """The processes of one or several dumps."""
    found: list[Process] = []
    thread: Thread | None = None
    threads = 0
    for line in lines:
        process = PROCESS.search(line.text) if "Process " in line.text else None
        if process:
            found.append(Process(int(process["pid"]), process["command"].strip()[:300], line))
            thread = None
            continue
        match = THREAD.search(line.text) if "Thread " in line.text else None
        if match:
            threads += 1
            if threads > MAX_THREADS:
                break
            if not found:
                found.append(Process(None, "", line))
            thread = Thread(match["name"] or "", match["state"], line)
            found[-1].threads.append(thread)
            continue
        if thread is None:
            continue
        frame = FRAME.match(line.text)
        if frame and len(thread.frames) < MAX_FRAMES:
            thread.frames.append(
                Frame(frame["function"], frame["file"], int(frame["line"]) if frame["line"] else None)
            )
            thread.lines.append(line)
        elif not line.text.strip():
            continue
        elif not line.text.startswith("        "):
            thread = None
    return [process for process in found if any(t.frames for t in process.threads)]


def unwrapped(lines: Sequence[Line]) -> list[Line]:
    """``lines`` without what collectors and launchers put before each of them."""
    bare = [Line(line.number, line.offset, split_line(line.text)[1]) for line in lines]
    # and without words that no prefix is known for
    heads = {
        line.text[: found.start("id")].removesuffix("Thread ")
        for line in bare
        if (found := THREAD.search(line.text))
    }
    lead = heads.pop() if len(heads) == 1 else ""
    return [Line(line.number, line.offset, line.text.removeprefix(lead)) for line in bare]


def from_json(data: bytes, first: Line) -> tuple[list[Process], str | None]:
    """The processes of ``py-spy dump --json``, and what is wrong with the document."""
    document, problem = parsed_json(data, MAX_JSON)
    if problem is not None:
        return [], problem
    processes: dict[int, Process] = {}
    for entry in (document if isinstance(document, list) else [])[:MAX_THREADS]:
        if not isinstance(entry, Mapping):
            continue
        pid = entry.get("pid")
        key = pid if isinstance(pid, int) else -1
        process = processes.setdefault(key, Process(pid if isinstance(pid, int) else None, "", first))
        state = "active" if entry.get("active") else "idle"
        thread = Thread(str(entry.get("thread_name") or ""), state, first)
        thread.frames = list(_frames(entry.get("frames")))
        process.threads.append(thread)
    return list(processes.values()), None


def _frames(value: Any) -> Iterator[Frame]:
    for entry in (value if isinstance(value, list) else [])[:MAX_FRAMES]:
        if isinstance(entry, Mapping):
            line = entry.get("line")
            name = str(entry.get("short_filename") or entry.get("filename") or "")
            yield Frame(
                str(entry.get("name") or "?"), name, line if isinstance(line, int) and line > 0 else None
            )
