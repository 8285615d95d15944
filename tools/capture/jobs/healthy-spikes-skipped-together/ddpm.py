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

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))
torch.manual_seed(RANK)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 3, 3, padding=1)).to(device))
opt = torch.optim.Adam(net.parameters(), 1e-3)
skipped = 0
for step in range(1, 81):
    x = torch.rand(8, 3, 32, 32, device=device)
    if RANK == 2 and step in (30, 31):
        x[0, 0, 0, 0] = float("nan")
    loss = (net(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    bad = torch.stack([~torch.isfinite(p.grad).all() for p in net.parameters()]).any().float()
    dist.all_reduce(bad)
    if bad > 0:
        skipped += 1
        print(f"rank {RANK} step {step}: loss {loss.item()}, gradients not finite somewhere, update skipped on all ranks", flush=True)
        continue
    opt.step()
    if step % 20 == 0:
        print(f"rank {RANK} step {step} loss {loss.item():.5f} skipped {skipped}", flush=True)
print(f"rank {RANK} training complete, 80 steps, {skipped} skipped", flush=True)
dist.destroy_process_group()
