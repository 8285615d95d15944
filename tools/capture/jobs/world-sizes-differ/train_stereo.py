import os
print(f"launch: rank {os.environ['RANK']} world {os.environ['WORLD_SIZE']} master {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", flush=True)
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=16))

m = nn.parallel.DistributedDataParallel(nn.Linear(64, 64))
for s in range(30): m(torch.randn(8, 64)).mean().backward()
dist.destroy_process_group()
