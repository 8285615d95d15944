import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
print(f"rank {RANK} torch {torch.__version__} nccl {torch.cuda.nccl.version()}", flush=True)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 64, 7, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1000)).to(device))
for step in range(50):
    model(torch.randn(16, 3, 96, 96, device=device)).square().mean().backward()
    if step % 10 == 0:
        print(f"rank {RANK} step {step}", flush=True)
dist.destroy_process_group()
