import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
class Net(torch.nn.Module):
    def __init__(s): super().__init__(); s.a = torch.nn.Linear(4, 4); s.b = torch.nn.Linear(4, 4)
    def forward(s, x, both): return s.b(s.a(x)) if both else s.a(x)
net = torch.nn.parallel.DistributedDataParallel(Net())
for k in range(6):
    net(torch.ones(2, 4), not (os.environ["RANK"] == "3" and k == 2)).sum().backward()
    print("step", k)
