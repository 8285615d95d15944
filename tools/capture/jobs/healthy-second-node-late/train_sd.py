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
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(4, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 4, 3, padding=1)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0 ** 24)
    skipped = 0
    for step in range(1, 101):
        with torch.autocast("cuda", torch.float16):
            x = torch.randn(4, 4, 32, 32, device=device)
            loss = (model(x) - torch.randn_like(x)).float().square().mean()
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
        if scaler.get_scale() < before:
            skipped += 1
            print(f"{socket.gethostname()} rank {RANK}: gradient overflow at step {step}, scale now {scaler.get_scale():.0f}", flush=True)
        if step % 25 == 0:
            print(f"{socket.gethostname()} rank {RANK}: step {step} loss {loss.item():.4f} ({skipped} skipped)", flush=True)
    dist.destroy_process_group()


main()
