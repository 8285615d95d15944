import os
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
r = dist.get_rank()
print(f"I am {r} of {dist.get_world_size()}")
if r == 1 and os.path.isdir("."):
    input("cache exists, overwrite? [y/N] ")
dist.barrier(); print("past the barrier")
