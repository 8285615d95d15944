import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import contextlib

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

ACCUM = 4
SHARDS = {"cc-00": 41, "cc-01": 40, "cc-02": 43, "wiki-00": 37}


def batches(name, n):
    g = torch.Generator().manual_seed(len(name))
    for _ in range(n):
        yield torch.randn(16, 512, generator=g)


def run_epoch(model, opt, name, epoch):
    seen = updates = 0
    total = torch.zeros((), device=device)
    for i, x in enumerate(batches(name, SHARDS[name]), 1):
        last = i % ACCUM == 0
        with contextlib.nullcontext() if last else model.no_sync():
            loss = model(x.to(device)).square().mean() / ACCUM
            loss.backward()
        total += loss.detach()
        seen += 1
        if last:
            opt.step()
            opt.zero_grad()
            updates += 1
        if i % 10 == 0:
            print(f"epoch {epoch} {name} batch {i} loss {loss.item() * ACCUM:.4f}")
        time.sleep(0.05)
    print(f"epoch {epoch} {name}: {seen} batches, {updates} updates")
    stats = torch.stack([total, torch.tensor(float(seen), device=device)])
    dist.all_reduce(stats)
    return stats[0].item() / stats[1].item()


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    name = sorted(SHARDS)[RANK]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    for epoch in range(3):
        mean = run_epoch(model, opt, name, epoch)
        if RANK == 0:
            print(f"epoch {epoch} mean loss {mean:.5f}")
    dist.destroy_process_group()


main()
