import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import ctypes

import numpy as np

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


bvh = ctypes.CDLL("./libbvh.so")


def build(points, leaf):
    n = len(points)
    left, right = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    for i in range(1, n):
        j = 0
        while True:
            side = left if points[i] < points[j] else right
            if side[j] < 0:
                side[j] = i
                break
            j = side[j]
        if points[i] == points[0]:
            right[:n - 1] = np.arange(1, n)
            break
    return left, right


def scan(step):
    rng = np.random.default_rng(step * 10 + RANK)
    return rng.random(300) if (RANK, step) != (1, 37) else np.zeros(200000)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1)).to(device))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for step in range(1, 121):
        points = scan(step)
        left, right = build(points, 8)
        d = bvh.depth(left.ctypes.data_as(ctypes.c_void_p), right.ctypes.data_as(ctypes.c_void_p), 0)
        x = torch.tensor([[float(points.mean()), float(points.std()), d / 100]], device=device)
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05)
        if step % 10 == 0:
            print(f"rank {RANK}: scan {step} points {len(points)} depth {d} loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


main()
