"""Where a run keeps its caches, data and checkpoints, and whether that is one place."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from triage.model import Value

_CACHES = (
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "HF_HOME",
    "HF_HUB_CACHE",
    "TRANSFORMERS_CACHE",
    "XDG_CACHE_HOME",
    "VLLM_CACHE_ROOT",
    "FLASHINFER_WORKSPACE_DIR",
    "CUDA_CACHE_PATH",
)
_DATA = ("HF_DATASETS_CACHE", "DATA_DIR", "DATASET_DIR", "DATA_PATH")
_FLAGS = {
    "data": (
        "--data-path",
        "--data-dir",
        "--dataset-path",
        "--dataset-dir",
        "--train-data-path",
        "--data",
        "--train-data",
    ),
    "checkpoint": (
        "--save",
        "--checkpoint-dir",
        "--checkpoint-path",
        "--ckpt-dir",
        "--output-dir",
        "--save-dir",
        "--default-root-dir",
        "--load",
    ),
    "cache": ("--cache-dir", "--download-dir", "--data-cache-path"),
}
USES = ("cache", "data", "checkpoint")

Claim = tuple[str, Mapping[str, Value], str]


def paths_of(receipt: Mapping[str, Any]) -> dict[str, str]:
    """``{use: path}`` for cache, data and checkpoint, as far as the receipt tells.

    Stated paths win over the command line, the command line over the environment.
    """
    found: dict[str, str] = {}
    stated = receipt.get("paths")
    if isinstance(stated, Mapping):
        for use in USES:
            value = stated.get(use)
            if isinstance(value, Mapping):
                value = value.get("path")
            if isinstance(value, str) and value:
                found[use] = value
    launch = receipt.get("launch")
    argv = launch.get("argv") if isinstance(launch, Mapping) else None
    for use, path in _argued([a for a in argv or () if isinstance(a, str)]):
        found.setdefault(use, path)
    environment = receipt.get("env")
    if isinstance(environment, Mapping):
        for use, names in (("cache", _CACHES), ("data", _DATA)):
            for name in names:
                value = environment.get(name)
                if isinstance(value, str) and value.startswith("/"):
                    found.setdefault(use, value)
    return found


def _argued(argv: list[str]) -> Iterator[tuple[str, str]]:
    for i, word in enumerate(argv):
        flag, equals, value = word.partition("=")
        if not equals:
            value = argv[i + 1] if i + 1 < len(argv) else ""
        for use, flags in _FLAGS.items():
            if flag.replace("_", "-") in flags and value.startswith("/"):
                yield use, value


def path_findings(receipt: Mapping[str, Any]) -> Iterator[Claim]:
    """Caches, data and checkpoints that share one directory or, where mounts are stated, one mount."""
    paths = paths_of(receipt)
    stated = receipt.get("paths")
    places: dict[str, str] = {}
    for use, path in paths.items():
        entry = stated.get(use) if isinstance(stated, Mapping) else None
        mount = entry.get("mount") if isinstance(entry, Mapping) else None
        if isinstance(mount, str) and mount != "/":
            places[use] = mount
        else:
            places[use] = posixpath.normpath(path)
    if len(places) < len(USES):
        return
    shared = posixpath.commonpath(list(places.values())) if _absolute(places) else ""
    if shared in {"", "/"} or shared not in places.values():
        return
    shown = ", ".join(f"{use} {paths[use]}" for use in USES)
    yield "receipt.one-path", {"path": shared, "detail": shown}, f"paths: {shown}"


def _absolute(places: Mapping[str, str]) -> bool:
    return all(place.startswith("/") for place in places.values())
