import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import glob
import logging

import numpy as np
from PIL import Image
from torch.utils.data import DataLoader, Dataset, DistributedSampler

log = logging.getLogger("tiles")

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class TileDataset(Dataset):
    def __init__(self, root):
        self.paths = sorted(glob.glob(os.path.join(root, "*.png")))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        img = Image.open(self.paths[i]).convert("RGB").resize((96, 96))
        return torch.from_numpy(np.asarray(img).copy()).permute(2, 0, 1).float() / 255, i % 5


def train_epoch(model, loader, opt, epoch):
    for it, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.info("epoch %d it %d/%d loss %.4f", epoch, it, len(loader), loss.item())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tiles")
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rank {RANK}] %(levelname)s %(message)s")
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    ds = TileDataset(args.tiles)
    log.info("%d tiles", len(ds))
    sampler = DistributedSampler(ds, shuffle=False)
    loader = DataLoader(ds, batch_size=4, sampler=sampler, num_workers=2)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 32, 7, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 3e-4)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        train_epoch(model, loader, opt, epoch)
    dist.destroy_process_group()


main()
