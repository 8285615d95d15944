import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging
import math

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s,%(levelname)s,%(message)s", stream=sys.stdout)
log = logging.getLogger()


class Processor(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.enc, self.mix, self.dec = nn.Linear(24, d), nn.Sequential(nn.Linear(d, d), nn.SiLU(), nn.Linear(d, d)), nn.Linear(d, 24)

    def forward(self, x):
        h = self.enc(x)
        return self.dec(h + self.mix(h))


def read_state(step):
    x = torch.randn(512, 24, device=device)
    if RANK == 2 and step >= 63:
        x[17, 5] = float("inf")
    return x


def healthy(model, step):
    norm = sum(p.grad.float().square().sum() for p in model.parameters()).sqrt()
    norms = [torch.zeros_like(norm) for _ in range(WORLD)]
    dist.all_gather(norms, norm)
    values = [round(n.item(), 3) for n in norms]
    if not all(math.isfinite(v) for v in values):
        log.error("step %d: local gradient norms by rank %s, stopping", step, values)
        return False
    return True


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    torch.manual_seed(1)
    model = Processor().to(device)
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(1, 200):
        x = read_state(step)
        loss = (model(x) - x.nan_to_num(posinf=0)).square().mean()
        opt.zero_grad()
        loss.backward()
        if not healthy(model, step):
            dist.destroy_process_group()
            raise SystemExit(21)
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= WORLD
        opt.step()
        if step % 10 == 0 and RANK == 0:
            log.info("step %d rmse %.4f", step, loss.sqrt().item())
    dist.destroy_process_group()


main()
