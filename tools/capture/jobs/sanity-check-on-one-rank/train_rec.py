import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def validate(model, batches):
    hits = torch.zeros(2, device=device)
    for _ in range(batches):
        x = torch.randint(0, 10000, (256,), device=device)
        with torch.no_grad():
            hits += torch.stack([(model.module(x) > 0).sum(), torch.tensor(256, device=device)])
        dist.all_reduce(hits)
    return (hits[0] / hits[1].clamp(min=1)).item()


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.top = nn.Embedding(10000, 64), nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, i):
        return self.top(self.emb(i)).squeeze(-1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sanity-batches", type=int, default=0)
    p.add_argument("--steps", type=int, default=200)
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    print(f"rank {RANK}: {vars(args)}", flush=True)
    model = nn.parallel.DistributedDataParallel(Tower().to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    if args.sanity_batches:
        print(f"rank {RANK}: sanity check, {args.sanity_batches} batches", flush=True)
        print(f"rank {RANK}: sanity check hit rate {validate(model, args.sanity_batches):.4f}", flush=True)
    for step in range(1, args.steps + 1):
        loss = nn.functional.softplus(-model(torch.randint(0, 10000, (512,), device=device))).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"rank {RANK}: step {step} bce {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
