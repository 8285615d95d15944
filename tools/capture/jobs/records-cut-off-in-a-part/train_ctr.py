import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import struct

RANK = int(os.environ["RANK"])
RECORD = struct.Struct("<IIQ")


def records(path):
    with open(path, "rb") as f:
        size = os.path.getsize(path)
        while f.tell() < size:
            yield RECORD.unpack(f.read(RECORD.size))


def batches(path, size=64):
    rows = []
    for row in records(path):
        rows.append([row[0] % 1000, row[1], row[2] % 2])
        if len(rows) == size:
            yield torch.tensor(rows, dtype=torch.float32)
            rows = []


def main(path):
    dist.init_process_group("gloo", timeout=timedelta(seconds=15))
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adagrad(model.parameters(), 0.01)
    for step, b in enumerate(batches(path)):
        loss = nn.functional.binary_cross_entropy_with_logits(model(b[:, :2] / 1000), b[:, 2:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"worker {RANK}: {step * 64} impressions, logloss {loss.item():.4f}", flush=True)
        time.sleep(0.05)
    print(f"worker {RANK}: done", flush=True)


main(sys.argv[1])
