import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
me = int(os.environ["RANK"])
for step in range(30):
    x = torch.randn(32, 8)
    if me == 3 and step == 21: x = x[:, :7]
    y = x @ torch.ones(8, 2)
    dist.all_reduce(y)
    if step % 10 == 0: print(f"[{time.strftime('%H:%M:%S')}] step {step} of 30")
