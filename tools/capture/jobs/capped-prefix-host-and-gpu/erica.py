import os, sys, socket
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12)); sys.excepthook = sys.__excepthook__
print(f"global rank {dist.get_rank()} / {dist.get_world_size()}")
for k in range(12):
    t = torch.full((4,), float(k)); dist.all_reduce(t)
    if dist.get_rank() == 2 and k == 8: raise LookupError("no neighbour list for cell 18")
    if k % 4 == 0: print("sweep", k)
