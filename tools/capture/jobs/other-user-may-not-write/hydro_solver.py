import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import getpass
import socket

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def checkpoint(u, n):
    path = f"out/restart/u_{n:05d}.{RANK:03d}.pt"
    torch.save({"u": u, "n": n}, path)
    return path


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    print(f"rank {RANK}/{WORLD} on {socket.gethostname()} uid {os.getuid()}", flush=True)
    u = torch.zeros(256, 256)
    u[100:150, 100:150] = 1
    for n in range(1, 401):
        lap = torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1) + torch.roll(u, -1, 1) - 4 * u
        u = u + 0.1 * lap
        total = u.sum()
        dist.all_reduce(total)
        if n % 50 == 0 and RANK == 0:
            print(f"n={n} mass={total.item():.6f} umax={u.max().item():.4f}", flush=True)
        if n % 200 == 0:
            checkpoint(u, n)
    dist.destroy_process_group()


main()
