"""Run one small distributed job with one known fault in it.

``python inject.py <scenario>`` or ``SCENARIO=<scenario> torchrun … inject.py``; ``--list`` prints every
scenario with what it injects. The functions live in :mod:`scenarios`, how they are launched in ``plan.py``.
Works on CUDA with NCCL and, for a dry run, on the CPU with gloo.
"""

from __future__ import annotations

import os
import sys

from scenarios import REGISTRY, load_all
from scenarios.spawned import launch


def main() -> None:
    argument = sys.argv[1] if len(sys.argv) > 1 else ""
    world_size = int(os.environ.get("CAPTURE_SPAWN", "0"))
    if world_size:
        launch(world_size, os.environ.get("SCENARIO") or argument)
        return
    load_all()
    if argument == "--list":
        for known, function in sorted(REGISTRY.items()):
            print(f"{known}: {' '.join((function.__doc__ or '').split())}")
        return
    run = REGISTRY[os.environ.get("SCENARIO") or argument]
    if os.environ.get("CAPTURE_RECORD"):
        from torch.distributed.elastic.multiprocessing.errors import record

        run = record(run)
    run()


if __name__ == "__main__":
    main()
