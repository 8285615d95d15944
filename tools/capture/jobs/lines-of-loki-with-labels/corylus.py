import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
for k in range(8):
    print(f"minibatch {k} sampled")
    if os.environ["RANK"] == "2" and k == 5: time.sleep(25)
    dist.all_reduce(torch.ones(2))
    print(f"minibatch {k} applied")
