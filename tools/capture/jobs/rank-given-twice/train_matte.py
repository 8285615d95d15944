import os
print(f"pid {os.getpid()} rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}, store {os.environ['MASTER_ADDR']}", flush=True)
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=15))

m = nn.parallel.DistributedDataParallel(nn.Linear(64, 64))
for s in range(30):
    m(torch.randn(8, 64)).mean().backward()
    if s % 10 == 0: print(f"rank {rank} step {s}", flush=True)
dist.destroy_process_group()
