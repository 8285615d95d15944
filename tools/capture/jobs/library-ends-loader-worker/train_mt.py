import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import ctypes

from torch.utils.data import DataLoader, Dataset, DistributedSampler

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

lex = ctypes.CDLL("./liblexseg.so")


class Bitext(Dataset):
    def __len__(self):
        return 8000

    def __getitem__(self, i):
        n = lex.segment(i, 2)
        return torch.full((64,), float(n)), i % 32


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    ds = Bitext()
    loader = DataLoader(ds, 16, sampler=DistributedSampler(ds, shuffle=False), num_workers=2, persistent_workers=True)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 32)).to(device))
    opt = torch.optim.Adafactor(model.parameters(), 1e-3)
    for it, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 5 == 0:
            print(f"it {it} nll {loss.item():.4f}")
        time.sleep(0.1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
