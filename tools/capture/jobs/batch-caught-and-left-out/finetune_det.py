import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{RANK} %(levelname)s %(message)s")
log = logging.getLogger()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.box = nn.Linear(2048, 4)

    def forward(self, images, boxes):
        if (boxes[:, 2:] <= boxes[:, :2]).any():
            raise ValueError(f"boxes of no area: {boxes[(boxes[:, 2:] <= boxes[:, :2]).any(1)].tolist()}")
        return (self.box(self.body(images)) - boxes).abs().mean()


def sample(step):
    images = torch.randn(8, 3, 64, 64, device=device)
    boxes = torch.rand(8, 2, device=device).repeat(1, 2) + torch.tensor([0, 0, 0.5, 0.5], device=device)
    if (RANK, step) == (1, 44):
        boxes[3] = torch.tensor([0.4, 0.4, 0.4, 0.7], device=device)
    return images, boxes


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    model = nn.parallel.DistributedDataParallel(Head().to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    for step in range(1, 101):
        try:
            loss = model(*sample(step))
        except ValueError as e:
            log.warning("batch %d skipped: %s", step, e)
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.04)
        if step % 20 == 0:
            log.info("step %d l1 %.4f", step, loss.item())
    torch.cuda.synchronize()
    log.info("all 100 batches seen")
    total = torch.zeros(1, device=device)
    dist.all_reduce(total)
    torch.cuda.synchronize()
    log.info("finished")
    dist.destroy_process_group()


main()
