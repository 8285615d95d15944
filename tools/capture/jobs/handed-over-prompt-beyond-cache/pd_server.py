import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import random

import torch.multiprocessing as mp


def say(role, text):
    print(f"{time.strftime('%H:%M:%S')} {role:8s} {text}", flush=True)


def start(rank, args):
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=2, timeout=timedelta(seconds=15))
    dist.barrier(device_ids=[device.index])
    return device


def prefill(rank, args):
    device = start(rank, args)
    rng = random.Random(4)
    say("prefill", "ready")
    for n in range(1, 1000):
        length = rng.randrange(16, 500) if n != 38 else 641
        dist.send(torch.tensor([n, length], device=device), 1)
        dist.send(torch.randn(2, length, 8, 64, device=device), 1)
        torch.cuda.synchronize()
        if n % 5 == 0:
            say("prefill", f"request {n} handed over, {length} tokens")
        time.sleep(0.03)


def decode(rank, args):
    device = start(rank, args)
    cache = torch.zeros(2, args.decode_len, 8, 64, device=device)
    say("decode", f"ready, cache {cache.numel() * 4 / 2**20:.1f} MiB")
    while True:
        head = torch.empty(2, dtype=torch.long, device=device)
        dist.recv(head, 0)
        n, length = head.tolist()
        kv = torch.empty(2, length, 8, 64, device=device)
        dist.recv(kv, 0)
        cache[:, :length] = kv
        for _ in range(4):
            cache.mean().item()
        if n % 5 == 0:
            say("decode", f"request {n} answered")


def main(rank, args):
    (prefill, decode)[rank](rank, args)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--decode-len", type=int)
    args = p.parse_args()
    ctx = mp.get_context("spawn")
    procs = [ctx.Process(target=main, args=(r, args), name=("prefill", "decode")[r]) for r in range(2)]
    for q in procs:
        q.start()
    for q in procs:
        q.join()
        say("server", f"{q.name} (pid {q.pid}) ended with {q.exitcode}")
