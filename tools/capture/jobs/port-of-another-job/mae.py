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


def main():
    env = {k: os.environ.get(k) for k in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")}
    print(f"{os.uname().nodename} starting {env}", flush=True)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    net = nn.parallel.DistributedDataParallel(nn.Linear(768, 768).to(device))
    for step in range(50):
        net(torch.randn(64, 768, device=device)).square().mean().backward()
    print("finished", flush=True)
    dist.destroy_process_group()


main()
