import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import logging

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"%(asctime)s | r{RANK} | %(message)s", stream=sys.stdout)
log = logging.getLogger()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(64, 128)

    def forward(self, x):
        return self.head(self.body(x))


def assign(features, k=256):
    """One Lloyd step against the k densest points."""
    density = torch.cdist(features, features).topk(8, largest=False).values.mean(1)
    centres = features[density.argsort()[:k]]
    return torch.cdist(features, centres).argmin(1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    counts = [18000, 20500, 17200, 411000]
    n = counts[RANK]
    log.info("domain %s: %d images", ["sketch", "photo", "clipart", "video-frames"][RANK], n)
    model = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(Encoder()).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for epoch in range(args.epochs):
        for it in range(30):
            x = torch.randn(32, 3, 64, 64, device=device)
            loss = model(x).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        log.info("epoch %d loss %.5f, reserved %.0f MiB", epoch, loss.item(), torch.cuda.memory_reserved() / 2**20)
        if epoch == 1:
            with torch.no_grad():
                labels = assign(torch.randn(n, 128, device=device))
            log.info("epoch %d: %d clusters used", epoch, labels.unique().numel())
        dist.barrier()
    dist.destroy_process_group()


main()
