import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import atexit

import numpy as np
import torch.multiprocessing as mp


def energy(s):
    return -(s * (s.roll(1, 0) + s.roll(1, 1))).sum()


def sweep(rank, world, shared):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    s = torch.sign(torch.randn(64, 64))
    with np.errstate(divide="warn"):
        for n in range(1, 201):
            flip = torch.rand(64, 64) < 0.05
            s = torch.where(flip, -s, s)
            e = energy(s).clone()
            dist.all_reduce(e)
            if n % 50 == 0 and rank == 0:
                print(f"sweep {n}: energy {e.item() / world:.1f}, acceptance error {abs(e.item()) ** 0.5 / 64:.3f}", flush=True)
                np.log(np.array([0.0, 1.0]))
        shared[rank] = e.item()
    dist.barrier()
    dist.destroy_process_group()
    atexit.register(print, f"chain {rank} exits", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--procs", type=int)
    n = p.parse_args().procs
    shared = torch.zeros(n).share_memory_()
    mp.spawn(sweep, (n, shared), nprocs=n)
    print("mean energy", shared.mean().item())


if __name__ == "__main__":
    main()
