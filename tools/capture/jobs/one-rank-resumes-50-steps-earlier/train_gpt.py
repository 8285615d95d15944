import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import glob
import re

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def newest():
    found = sorted((int(re.search(r"step(\d+)", f).group(1)), f) for f in glob.glob(f"ckpt/rank{RANK}-step*.pt"))
    return found[-1][1] if found else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int)
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    path = newest()
    start = torch.load(path)["step"] if path else 0
    print(f"rank {RANK}: loaded {path}, continuing at step {start}", flush=True)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 6e-4)
    for step in range(start, args.steps):
        loss = model(torch.randn(8, 768, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} loss {loss.item():.4f} lr 6.0e-04", flush=True)
        time.sleep(0.05)
    print(f"rank {RANK}: reached step {args.steps}, evaluating", flush=True)
    scores = [torch.zeros(16, device=device) for _ in range(WORLD)]
    dist.all_gather(scores, torch.rand(16, device=device))
    torch.cuda.synchronize()
    print(f"rank {RANK}: eval {torch.stack(scores).mean().item():.4f}", flush=True)
    dist.destroy_process_group()


main()
