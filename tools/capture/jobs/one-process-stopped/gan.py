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
dist.init_process_group("nccl", timeout=timedelta(seconds=18))

gen = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784)).to(device))
dis = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)).to(device))
og, od = torch.optim.Adam(gen.parameters(), 2e-4), torch.optim.Adam(dis.parameters(), 2e-4)
for it in range(1, 2000):
    fake = gen(torch.randn(64, 64, device=device))
    ld = dis(fake.detach()).mean() - dis(torch.rand(64, 784, device=device)).mean()
    od.zero_grad()
    ld.backward()
    od.step()
    lg = -dis(fake).mean()
    og.zero_grad()
    lg.backward()
    og.step()
    time.sleep(0.05)
    if it % 25 == 0:
        print(f"it {it} d {ld.item():.4f} g {lg.item():.4f}", flush=True)
