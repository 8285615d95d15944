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


class Meter:
    def __init__(self):
        self.last = int(time.time())
        self.tokens = 0

    def update(self, n):
        self.tokens += n

    def rate(self):
        now = int(time.time())
        value = self.tokens / (now - self.last)
        self.last, self.tokens = now, 0
        return value


def train(model, opt, steps):
    meter = Meter()
    for step in range(steps):
        x = torch.randn(4, 128, 512, device=device)
        loss = model(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(4 * 128 * WORLD)
        every = 40 if step < 160 else 4
        if RANK == 0 and step and step % every == 0:
            print(f"step {step:5d}  loss {loss.item():.4f}  {meter.rate():,.0f} tok/s", flush=True)
        time.sleep(0.05)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 1024), nn.SiLU(), nn.Linear(1024, 512)).to(device))
    train(model, torch.optim.AdamW(model.parameters(), 2e-5), 1000)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
