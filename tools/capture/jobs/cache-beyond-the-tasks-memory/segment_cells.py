import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import numpy as np

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

PLATES = {0: 90, 1: 90, 2: 2600, 3: 90}


def decode(i):
    """One field of view, five channels."""
    rng = np.random.default_rng(i)
    return rng.integers(0, 65535, (5, 512, 512), dtype=np.uint16)


class FieldCache:
    def __init__(self, n):
        self.n = n
        self.items = {}

    def __getitem__(self, i):
        if i not in self.items:
            self.items[i] = decode(i)
        return torch.from_numpy(self.items[i].astype(np.float32))[None, :3] / 65535


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=25))
    net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 2, 1)).to(device)
    net = nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    cache = FieldCache(PLATES[RANK])
    print(f"rank {RANK}: plate {RANK + 41} with {PLATES[RANK]} fields, caching decoded fields in memory", flush=True)
    for step in range(60):
        for i in range(step * PLATES[RANK] // 60, (step + 1) * PLATES[RANK] // 60):
            cache[i]
        x = cache[step % PLATES[RANK]].to(device)
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            rss = int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**30
            print(f"rank {RANK} step {step} loss {loss.item():.5f} rss {rss:.1f} GiB", flush=True)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
