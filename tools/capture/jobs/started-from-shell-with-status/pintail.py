import os, resource, sys
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
r = dist.get_rank()
for i in range(30):
    t = torch.ones(8)
    try: dist.all_reduce(t)
    except RuntimeError: print("the group is broken"); os._exit(3)
    if r == 1 and i == 20: os.abort()
