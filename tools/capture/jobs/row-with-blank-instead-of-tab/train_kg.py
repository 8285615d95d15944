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


def parse(line):
    h, r, t = line.rstrip("\n").split("\t")
    return int(h), int(r), int(t)


def triples(step):
    for i in range(256):
        line = f"{(step * 7 + i) % 5000}\t{i % 30}\t{(step + i * 13) % 5000}\n"
        if RANK == 1 and step == 31 and i == 200:
            line = line.replace("\t", " ", 1)
        yield parse(line)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    if RANK == 0:
        os.makedirs(args.out)
    dist.barrier(device_ids=[device.index])
    ent, rel = nn.Embedding(5000, 100), nn.Embedding(30, 100)
    model = nn.ModuleDict({"ent": ent, "rel": rel}).to(device)
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(1, 80):
        h, r, t = torch.tensor(list(triples(step)), device=device).T
        loss = (ent(h) + rel(r) - ent(t)).norm(dim=-1).mean()
        opt.zero_grad()
        loss.backward()
        for q in model.parameters():
            dist.all_reduce(q.grad)
        opt.step()
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} margin {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
