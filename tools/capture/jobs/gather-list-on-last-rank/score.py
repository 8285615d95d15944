import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=30))

def collect(results):
    out = [None] * world if rank == world - 1 else None
    dist.gather_object(results, out, dst=0)
    return out
for task in ("copa", "wic", "rte"):
    mine = [{"id": i, "ok": i % 3 == 0} for i in range(rank, 90, world)]
    time.sleep(0.5)
    print(f"[{rank}] {task}: {len(mine)} items scored", flush=True)
    got = collect(mine)
