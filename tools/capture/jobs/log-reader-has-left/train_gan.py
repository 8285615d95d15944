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
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    g = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784)).to(device))
    d = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)).to(device))
    og, od = torch.optim.Adam(g.parameters(), 2e-4), torch.optim.Adam(d.parameters(), 2e-4)
    bce = nn.functional.binary_cross_entropy_with_logits
    for it in range(150):
        real, z = torch.rand(64, 784, device=device), torch.randn(64, 64, device=device)
        fake = g(z)
        ld = bce(d(torch.cat([real, fake.detach()])), torch.cat([torch.ones(64, 1), torch.zeros(64, 1)]).to(device))
        od.zero_grad()
        ld.backward()
        od.step()
        lg = bce(d(fake), torch.ones(64, 1, device=device))
        og.zero_grad()
        lg.backward()
        og.step()
        print(f"iter {it} D {ld.item():.4f} G {lg.item():.4f}")
        time.sleep(0.02)
    dist.destroy_process_group()


main()
