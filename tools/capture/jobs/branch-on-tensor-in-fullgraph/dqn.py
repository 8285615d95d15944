import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

class Gate(nn.Module):
    def __init__(self): super().__init__(); self.a = nn.Linear(64, 64); self.b = nn.Linear(64, 64)
    def forward(self, x):
        h = self.a(x)
        if h.mean() > 0: return self.b(h)
        return h
model = nn.parallel.DistributedDataParallel(torch.compile(Gate().to(dev), fullgraph=True), find_unused_parameters=True)
for step in range(5): model(torch.randn(8, 64, device=dev)).sum().backward()
