import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

import torch.multiprocessing as mp


def leapfrog(q, n):
    p = torch.randn_like(q)
    for _ in range(n):
        p -= 0.01 * q
        q = q + 0.01 * p
    return q


def chain(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=timedelta(seconds=40))
    torch.set_num_threads(1)
    q = torch.zeros(2000)
    for draw in range(1, 2001):
        q = leapfrog(q, 60 if rank != 2 else 12000)
        mean = q.clone()
        dist.all_reduce(mean)
        if draw % 50 == 0 or draw == 1:
            print(f"chain {rank}: draw {draw} rhat {1 + 1 / draw:.3f}", flush=True)
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--chains", type=int)
    n = p.parse_args().chains
    mp.spawn(chain, (n,), nprocs=n)


if __name__ == "__main__":
    main()
