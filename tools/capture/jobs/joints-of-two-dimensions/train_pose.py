import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.utils.data import DataLoader, Dataset

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Batch:
    def __init__(self, items):
        self.images = torch.stack([i[0] for i in items])
        self.joints = [i[1] for i in items]

    def pin_memory(self):
        self.images = self.images.pin_memory()
        self.flat = torch.cat([j.pin_memory() for j in self.joints])
        return self


class Poses(Dataset):
    def __len__(self):
        return 1200

    def __getitem__(self, i):
        people = 1 + i % 3
        joints = torch.randn(people, 17, 3)
        if RANK == 3 and i == 707:
            joints = joints[:, :, :2]
        return torch.randn(3, 64, 64), joints


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.Sequential(nn.Conv2d(3, 32, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 51)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    loader = DataLoader(Poses(), 16, num_workers=2, pin_memory=True, collate_fn=Batch, prefetch_factor=2)
    for it, b in enumerate(loader):
        loss = (model(b.images.to(device, non_blocking=True)).mean() - b.flat.to(device).mean()).square()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 0:
            print(f"rank {RANK} it {it}/{len(loader)} mpjpe {loss.item():.4f}", flush=True, file=sys.stderr)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
