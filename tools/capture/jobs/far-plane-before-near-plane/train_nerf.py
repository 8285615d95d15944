import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import json

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Field(nn.Module):
    def __init__(self, w=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(60, w), nn.ReLU(), nn.Linear(w, w), nn.ReLU(), nn.Linear(w, 4))

    def forward(self, x):
        return self.net(x)


class Evaluator:
    """Renders test views; lives on rank 0."""

    def __init__(self, cfg):
        self.near, self.far = cfg["near"], cfg["far"]
        if self.far <= self.near:
            raise ValueError(f"far plane ({self.far}) has to lie behind the near plane ({self.near})")

    def run(self, model, step):
        print(f"step {step} psnr {20 + step / 50:.2f}", flush=True)


def main():
    cfg = json.load(open(sys.argv[2]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    print(f"rank {RANK}: {cfg}", flush=True)
    model = nn.parallel.DistributedDataParallel(Field().to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), cfg["lr"])
    evaluator = None
    for step in range(1, cfg["steps"]):
        x = torch.randn(cfg["rays"], 60, device=device)
        loss = model(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            print(f"rank {RANK}: step {step} mse {loss.item():.5f}", flush=True)
        if step % cfg["eval_every"] == 0 and RANK == 0:
            evaluator = evaluator or Evaluator(cfg)
            evaluator.run(model, step)
    dist.destroy_process_group()


main()
