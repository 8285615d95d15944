import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import warnings

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))
model = nn.parallel.DistributedDataParallel(nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 2).to(device), device_ids=[device.index])
opt = torch.optim.AdamW(model.parameters(), 1e-4)
mean = None
for step in range(1, 61):
    t = time.time()
    x = torch.randn(4, 64, 256, device=device)
    if RANK == 3 and step in (22, 47):
        time.sleep(4)
    loss = (model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    loss = loss.item()
    dt = time.time() - t
    mean = dt if mean is None or step < 8 else 0.9 * mean + 0.1 * dt
    if step > 8 and dt > 3:
        warnings.warn(f"rank {RANK}: step {step} took {dt:.1f} s, ten times the mean; possible hang of a peer")
    if step % 20 == 0 and RANK == 0:
        print(f"step {step} loss {loss:.4f} {1024 / dt:.0f} tok/s", flush=True)
print(f"rank {RANK} done", flush=True)
dist.destroy_process_group()
