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


class Switch(nn.Module):
    def __init__(self, d=256, experts=4):
        super().__init__()
        self.route = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList([nn.Linear(d, d) for _ in range(experts)])

    def forward(self, x):
        p, e = self.route(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (e == i).nonzero().squeeze(-1)
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * p[rows, None])
        return out


def tokens(step):
    x = torch.randn(512, 256, device=device)
    if RANK == 2 and step == 71:
        x = x[:1].repeat(512, 1)
    return x


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    torch.manual_seed(RANK)
    model = nn.parallel.DistributedDataParallel(Switch().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    for step in range(1, 151):
        x = tokens(step)
        loss = (model(x) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.03)
        if step % 25 == 0 and RANK == 0:
            print(f"step {step:5d} | loss {loss.item():.4f} | tok/s {512 * WORLD / 0.04:.0f}", flush=True)
    dist.destroy_process_group()


main()
