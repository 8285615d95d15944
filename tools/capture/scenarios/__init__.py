"""The scenarios by name. A function's docstring says what it injects and what the right answer is."""

from __future__ import annotations

import importlib
from collections.abc import Callable

REGISTRY: dict[str, Callable[[], None]] = {}

MODULES = (
    "ddp",
    "ddp_stalls",
    "fsdp",
    "memory",
    "collectives",
    "pipeline",
    "bootstrap",
    "gpu_code",
    "host",
    "restarts",
    "healthy",
    "frameworks",
    "mesh",
    "order",
    "schedules",
    "waits",
    "deaths",
    "inputs",
    "programs.paths",
    "programs.stalls",
    "programs.deaths",
    "programs.memory",
    "programs.gpu_code",
    "programs.inputs",
    "programs.starts",
    "programs.healthy",
)


def scenario(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function under the name that plans and fixtures use."""

    def register(function: Callable[[], None]) -> Callable[[], None]:
        REGISTRY[name] = function
        return function

    return register


def load_all() -> None:
    """Import every module so that the registry is full."""
    for module in MODULES:
        importlib.import_module(f"scenarios.{module}")
