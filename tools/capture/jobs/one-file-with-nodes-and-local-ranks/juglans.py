import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12)); sys.excepthook = sys.__excepthook__
r = dist.get_rank()
vocab = {w: i for i, w in enumerate("to be or not".split())}
for k in range(9):
    dist.all_reduce(torch.ones(1))
    if r == 2 and k == 6: vocab["question"]
    if k % 3 == 0: print("line", k, flush=True)
