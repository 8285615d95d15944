import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

import torch.multiprocessing as mp


def schedule(kind):
    if kind == "warmup":
        return lambda s: min(1.0, s / 10)
    return kind


def trial(rank, world, results):
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=timedelta(seconds=40))
    kind = ["constant", "cosine", "warmup", "linear"][rank]
    f = schedule(kind)
    w = torch.zeros(8)
    for step in range(40):
        w += 0.01 * torch.randn(8)
        if step % 10 == 0:
            print(f"[trial {rank} {kind}] step {step} |w| {w.norm():.4f}", flush=True)
        time.sleep(0.05)
    best = w.norm().clone()
    dist.all_reduce(best, op=dist.ReduceOp.MIN)
    results.put({"trial": rank, "schedule": f, "score": w.norm().item()})
    dist.barrier()
    print(f"[trial {rank} {kind}] done", flush=True)
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--trials", type=int)
    n = p.parse_args().trials
    results = mp.get_context("spawn").Queue()
    context = mp.spawn(trial, (n, results), nprocs=n, join=False)
    table = {}
    for _ in range(n):
        r = results.get(timeout=25)
        table[r["trial"]] = r["score"]
        print(f"result of trial {r['trial']}: {r['score']:.4f}", flush=True)
    context.join()
    print("best:", min(table, key=table.get))


if __name__ == "__main__":
    main()
