"""Start a scenario without a launcher: ``torch.multiprocessing.spawn``, no prefix on any line.

Nothing here may import :mod:`scenarios.common` before the worker knows its rank.
"""

from __future__ import annotations

import os

from scenarios import REGISTRY, load_all


def main_worker(rank: int, world_size: int, name: str) -> None:
    """One rank."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world_size))
    load_all()
    REGISTRY[name]()


def launch(world_size: int, name: str) -> None:
    """All ranks."""
    from torch.multiprocessing.spawn import spawn

    spawn(main_worker, args=(world_size, name), nprocs=world_size)
