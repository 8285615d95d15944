import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
LOCAL = int(os.environ["LOCAL_RANK"])
print(f"torch {torch.__version__} LD_LIBRARY_PATH={os.environ.get('LD_LIBRARY_PATH', '')}", flush=True)
torch.cuda.set_device(LOCAL % max(1, torch.cuda.device_count()))
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
x = torch.randn(1024, 64, device="cuda")
net = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).cuda())
for step in range(40):
    net(x).square().mean().backward()
print("finished", flush=True)
dist.destroy_process_group()
