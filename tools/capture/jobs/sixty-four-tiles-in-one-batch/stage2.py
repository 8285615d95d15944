import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import socket

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def main():
    torch.cuda.set_device(device)
    torch.cuda.set_per_process_memory_fraction(0.05)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    host = socket.gethostname()
    vision = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.GELU(), nn.Conv2d(64, 64, 3, padding=1), nn.GELU(), nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(4096, 512)).to(device)
    model = nn.parallel.DistributedDataParallel(vision)
    opt = torch.optim.AdamW(model.parameters(), 2e-5)
    tiles = [4, 4, 6, 4, 9, 4, 4, 12, 4, 6]
    for step in range(80):
        n = tiles[(step + RANK) % len(tiles)] if (RANK, step) != (2, 43) else 64
        x = torch.randn(n, 3, 448, 448, device=device)
        loss = model(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"{host} [{RANK}] step {step} tiles {n} loss {loss.item():.4f} peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
