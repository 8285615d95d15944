"""One rank of the bandwidth pass: a process of its own, so that a hang can be ended from outside.

Run as ``python -m triage.service.preflight.allreduce RANK WORLD STORE SECONDS BYTES``. It prints one
JSON object a line and stage: imported, joined, result.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from typing import Any

WARM_UP = 3
ROUND = 5
MOST_ROUNDS = 20


def say(stage: str, **values: Any) -> None:
    """Tell the parent how far this rank has come."""
    print(json.dumps({"stage": stage, **values}), flush=True)


def main(rank: int, world: int, store: str, seconds: float, size: int) -> None:
    """Join, check a sum, measure, say the bus bandwidth in GB/s."""
    from importlib import import_module

    torch: Any = import_module("torch")
    dist: Any = import_module("torch.distributed")

    nccl = ".".join(str(part) for part in torch.cuda.nccl.version())
    say("imported", torch=str(torch.__version__), cuda=str(torch.version.cuda), nccl=nccl)
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl",
        init_method=f"file://{store}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=max(5.0, seconds)),
        device_id=device,
    )
    probe = torch.full((1024,), float(rank + 1), device=device)
    dist.all_reduce(probe)
    torch.cuda.synchronize()
    say("joined")
    right = bool((probe == world * (world + 1) / 2).all().item())
    data = torch.ones(size // 4, dtype=torch.float32, device=device)
    for _ in range(WARM_UP):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    best = 0.0
    began = time.monotonic()
    for _ in range(MOST_ROUNDS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(ROUND):
            dist.all_reduce(data)
        end.record()
        torch.cuda.synchronize()
        took = start.elapsed_time(end) / 1000 / ROUND
        best = max(best, size * 2 * (world - 1) / world / took / 1e9)
        # all ranks must do the same number of rounds, so the clock of rank 0 decides for all
        going = torch.tensor([1.0 if time.monotonic() - began < seconds / 4 else 0.0], device=device)
        dist.broadcast(going, 0)
        if not going.item():
            break
    say("result", right=right, bus_gb_s=round(best, 1))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
