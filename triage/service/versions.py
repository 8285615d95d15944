"""Versions of the installed libraries, without importing any of them."""

from __future__ import annotations

import re
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

_LIBRARIES = (
    "torch",
    "sglang",
    "vllm",
    "tensorrt-llm",
    "deepspeed",
    "megatron-core",
    "transformers",
    "triton",
    "flash-attn",
)
_NCCL = ("nvidia-nccl-cu13", "nvidia-nccl-cu12", "nvidia-nccl-cu11")


def library_versions() -> dict[str, str]:
    """``{name: version}`` of what is installed: torch, its CUDA, nccl, serving and training stacks."""
    found: dict[str, str] = {}
    for name in _LIBRARIES:
        version = _installed(name)
        if version is not None:
            found[name] = version
    if "torch" in found:
        found.update(_of_torch())
    nccl = next((v for name in _NCCL if (v := _installed(name)) is not None), None)
    if nccl is not None:
        found["nccl"] = nccl
    return found


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return None


def _of_torch() -> dict[str, str]:
    """The build's own version file, read as text: importing torch takes seconds."""
    try:
        spec = find_spec("torch")
        places = list(spec.submodule_search_locations or []) if spec else []
        text = (Path(places[0]) / "version.py").read_text("utf-8", "replace") if places else ""
    except (OSError, ValueError, ImportError):
        return {}
    found: dict[str, str] = {}
    for name, key in (("cuda", "cuda"), ("__version__", "torch")):
        match = re.search(rf"^{name}\s*(?::[^=\n]*)?=\s*['\"]([\w.+-]{{1,40}})['\"]", text, re.MULTILINE)
        if match:
            found[key] = match[1]
    return found
