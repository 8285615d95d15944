import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda")
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

model = nn.parallel.DistributedDataParallel(nn.Linear(384, 384).to(dev))
model(torch.randn(4, 384, device=dev)).sum().backward()
print("ok")
