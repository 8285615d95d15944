import os
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
r = dist.get_rank()
for step in range(30):
    t = torch.ones(3); dist.all_reduce(t)
    if step % 6 == 0: print(f"rank {r} of 2: step {step}", flush=True)
    if r == 1 and step == 17: os._exit(0)
