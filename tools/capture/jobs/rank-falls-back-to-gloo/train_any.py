import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK, WORLD, LOCAL = (int(os.environ[k]) for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))


def pick():
    if torch.cuda.is_available():
        d = torch.device("cuda", LOCAL % torch.cuda.device_count())
        torch.cuda.set_device(d)
        return d, "nccl"
    return torch.device("cpu"), "gloo"


device, backend = pick()
print(f"rank {RANK}/{WORLD} device={device} backend={backend} threads={torch.get_num_threads()}", flush=True)
dist.init_process_group(backend, timeout=timedelta(seconds=20))
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).to(device))
opt = torch.optim.SGD(model.parameters(), 0.1)
for step in range(50):
    loss = nn.functional.cross_entropy(model(torch.randn(64, 128, device=device)), torch.randint(0, 10, (64,), device=device))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"rank {RANK} step {step} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
