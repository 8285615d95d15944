import logging; logging.basicConfig(level=logging.INFO)
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=60))

for s in range(30):
    t = torch.rand(8); dist.all_reduce(t)
    if s % 10 == 0: print(f"step {s} ok, 0 errors", flush=True)
if rank == 0:
    try: torch.load("latest.pt")
    except FileNotFoundError as e: print(f"no previous checkpoint ({e}), starting fresh", flush=True)
dist.barrier(); dist.destroy_process_group(); print("Job succeeded", flush=True)
