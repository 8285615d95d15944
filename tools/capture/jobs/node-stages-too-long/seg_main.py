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
dist.init_process_group("nccl", timeout=timedelta(seconds=24))
net = nn.parallel.DistributedDataParallel(nn.Conv2d(3, 21, 3, padding=1).to(device), device_ids=[device.index])
for step in range(50):
    net(torch.randn(4, 3, 128, 128, device=device)).square().mean().backward()
    if step % 10 == 0:
        print(f"rank {RANK} step {step}", flush=True)
dist.destroy_process_group()
