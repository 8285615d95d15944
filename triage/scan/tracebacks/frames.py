"""Whose code a frame is in, judged by its path."""

from __future__ import annotations

from functools import lru_cache

from triage.scan.lazy import compiled
from triage.scan.tracebacks.model import Frame, FrameKind

_TORCH = frozenset(("torch", "functorch", "torchgen"))
_LIBRARIES = frozenset(
    """
    accelerate aiohttp apex asyncio bitsandbytes composer concurrent datasets deepspeed diffusers evaluate
    fairscale fairseq fastapi flash_attn flashinfer flax gunicorn horovod huggingface_hub jax jaxlib
    lightning lightning_fabric litgpt megatron mooncake mpi4py multiprocessing nemo numpy optimum outlines
    pandas peft pyarrow pydantic pytorch_lightning ray requests safetensors sagemaker scipy sgl_kernel
    sglang sklearn skypilot starlette streaming tensorflow tensorrt tensorrt_llm threading timm tokenizers
    torchao torchaudio torchdata torchrec torchtitan torchtune torchvision transformer_engine
    transformers triton trl urllib3 uvicorn verl vllm wandb webdataset xformers
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
_STDLIB = r"(?:^|/)lib(?:64)?/python\d(?:\.\d+)?t?/|(?:^|/)python\d+\.zip/|(?i:^[a-z]:/(?:[^/]+/)+lib/(?!site-packages/)[\w/]+\.py$)"
_PACKAGES = r"(?:^|/)(?:site|dist)-packages/(?P<package>[^/]+)"
_INTERACTIVE = ("<stdin>", "<ipython-input", "<console>")
_LEFT_OUT = frozenset(("...", "\N{HORIZONTAL ELLIPSIS}"))
_GENERATED = (".exe/", "/.cache/", "/.triton/", "/torch_extensions/", "/opt/conda/", ".egg/", "/pkgs/")


def make_frame(path: str, line: int | None, function: str, code: str | None = None) -> Frame:
    """A frame with its kind."""
    kind = path_kind(path)
    if kind == "user" and function == "<module>" and _is_script(path, code):
        kind = "library"
    return Frame(path, line, function, code, kind)


@lru_cache(maxsize=2048)
def path_kind(path: str) -> FrameKind:
    """Whose code ``path`` is.

    ``user`` is what is neither installed, nor a checkout of a well-known project, nor generated.
    A folder that merely bears a library's name, such as ``project/torch/``, is the user's.
    """
    if path.startswith("<"):
        if path.startswith("<frozen"):
            return "frozen"
        return "user" if path.startswith(_INTERACTIVE) else "library"
    path = path.replace("\\", "/")
    package = compiled(_PACKAGES).search(path)
    if package is not None:
        return "torch" if package["package"] in _TORCH else "library"
    if compiled(_STDLIB).search(path):
        return "stdlib"
    if (
        "/torchinductor_" in path
        or "/inductor_cache/" in path
        or path.startswith("/pytorch/")
        or "/pytorch/torch/" in path
    ):
        return "torch"
    if any(part in path for part in _GENERATED) or path.endswith((".pyx", ".pxi")):
        return "library"
    parts = path.split("/")
    return _by_folder(parts[1:] if parts[0] in _LEFT_OUT and len(parts) > 2 else parts)


def _by_folder(parts: list[str]) -> FrameKind:
    if len(parts) > 1 and parts[0] in _TORCH:
        return "torch"
    for parent, name in zip(["", *parts], parts[:-1], strict=False):
        if name in _LIBRARIES and (name is parts[0] or _is_checkout(parent, name)):
            return "library"
    if "/megatron/core/" in "/".join(parts):
        return "library"
    return "library" if len(parts) > 1 and parts[-2] in {"bin", "sbin"} and "." not in parts[-1] else "user"


def _is_checkout(parent: str, name: str) -> bool:
    """Whether ``parent/name`` is how a project's repository holds its package."""
    folder = parent.lower().replace("-", "").replace("_", "")
    plain = name.replace("_", "")
    return folder in {"src", "python", plain, plain + "lm", plain + "source"} or (
        plain.endswith("server") and folder == "server"
    )


def _is_script(path: str, code: str | None) -> bool:
    """Whether the frame is the generated launcher of an installed command."""
    return code is not None and code.startswith("sys.exit(") and "." not in path.rpartition("/")[2]
