import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
print(f"Hello from {dist.get_rank()}/{dist.get_world_size()} on {os.uname().nodename}")
for epoch in range(4):
    print("epoch", epoch, "reading")
    if dist.get_rank() == 1 and epoch == 2: time.sleep(30)
    t = torch.ones(4); dist.all_reduce(t)
    print("epoch", epoch, "loss", 1 / (epoch + 1))
