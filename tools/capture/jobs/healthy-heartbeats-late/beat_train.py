import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import pathlib

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=40))

net = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(device))
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1, 101):
    loss = net(torch.randn(64, 256, device=device)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    pathlib.Path(f"beat.{RANK}").touch()
    time.sleep(6 if step == 60 and RANK == 3 else 0.05)
    if step % 25 == 0:
        print(f"{time.strftime('%H:%M:%S')} rank {RANK} step {step} loss {loss.item():.5f}", flush=True)
    if step == 60 and RANK == 3:
        print(f"{time.strftime('%H:%M:%S')} rank {RANK} WARNING reading the next shard took 6.0 s", flush=True)
os.remove(f"beat.{RANK}")
print(f"rank {RANK} finished", flush=True)
dist.barrier(device_ids=[device.index])
dist.destroy_process_group()
