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


class Block(nn.Module):
    def __init__(self, d=512):
        super().__init__()
        self.norm, self.up, self.down = nn.RMSNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.up(self.norm(x))))


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=45))
    net = nn.Sequential(*[Block() for _ in range(3)]).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    step_fn = torch.compile(model)
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    print(f"rank {RANK}: compiling", flush=True)
    for step in range(1, 61):
        loss = step_fn(torch.randn(64, 512, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"rank {RANK}: step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
