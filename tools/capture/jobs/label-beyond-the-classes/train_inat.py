import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

from torch.distributed.fsdp import fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Catalogue:
    def __init__(self, rank):
        self.g = torch.Generator().manual_seed(rank)
        self.offset = [0, 1200, 2600, 3900][rank]

    def batch(self, n):
        y = self.offset + torch.randint(0, 1150 + n, (32,), generator=self.g)
        return torch.randn(32, 512, generator=self.g), y


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int)
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20), device_id=device)
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, args.classes)).to(device)
    for m in model:
        if isinstance(m, nn.Linear):
            fully_shard(m)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    cat = Catalogue(RANK)
    for n in range(300):
        x, y = cat.batch(n)
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        opt.step()
        opt.zero_grad()
        if n % 10 == 0:
            print(f"[{time.strftime('%X')}] batch {n} loss {loss.item():.3f} classes up to {int(y.max())}", flush=True)
        time.sleep(0.04)
    dist.destroy_process_group()


main()
