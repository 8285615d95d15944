import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
r = int(os.environ["RANK"])
data = iter([torch.ones(3)] * (25 if r != 3 else 14))
step = 0
while True:
    x = next(data, None)
    if x is None:
        print(f"iterator ended after {step} batches"); break
    dist.all_reduce(x); step += 1
    if step % 5 == 0: print("batch", step)
dist.destroy_process_group()
