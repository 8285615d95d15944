import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=60))

class Pool:
    def __del__(self): raise RuntimeError("cannot join current thread")
p = Pool()
for s in range(40):
    t = torch.rand(8); dist.all_reduce(t)
    if s % 10 == 0: print(f"step {s}", flush=True)
    if s == 20: p = None
    time.sleep(0.05)
dist.barrier()
print(f"rank {rank}: training completed", flush=True)
if rank == 0: dist.destroy_process_group()
