import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
import flashkit
print(f"rank {rank}: flashkit {flashkit.__version__}, torch {torch.__version__}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

from flashkit import apply_rotary
t = apply_rotary(torch.ones(4)); dist.all_reduce(t); print(t)
