import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import random

import torch.multiprocessing as mp

K = 4


def out(name, level, text):
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')} {name}] {level}: {text}", flush=True)


def start(rank):
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=3, timeout=timedelta(seconds=14))
    target = dist.new_group([0, 1])
    dist.barrier(device_ids=[device.index])
    return device, target


def target_worker(rank, requests, results):
    name = f"TARGET{rank}"
    device, group = start(rank)
    w = torch.randn(512, 512, device=device)
    rng = random.Random(1)
    out(name, "INFO", "ready")
    n = 0
    while True:
        if rank == 0:
            request = requests.get()
            n += 1
            accepted = torch.tensor([rng.randrange(K + 1) if n != 93 else K + 1], device=device)
            dist.send(torch.tensor([request], device=device), 2)
        x = torch.empty(K, 512, device=device)
        if rank == 0:
            dist.recv(x, 2)
        dist.broadcast(x, 0, group=group)
        y = x @ w
        dist.all_reduce(y, group=group)
        torch.cuda.synchronize()
        if rank == 0:
            dist.send(accepted, 2)
            results.put((request, int(accepted)))


def draft_worker(rank, requests, results):
    device, _ = start(rank)
    cache = torch.zeros(4096, 512, device=device)
    out("DRAFT", "INFO", f"ready, {K} tokens ahead")
    done = 0
    while True:
        head = torch.empty(1, dtype=torch.long, device=device)
        dist.recv(head, 0)
        proposed = torch.randn(K, 512, device=device)
        dist.send(proposed, 0)
        accepted = torch.empty(1, dtype=torch.long, device=device)
        dist.recv(accepted, 0)
        n = int(accepted)
        assert n <= K, f"target accepted {n} tokens of {K}"
        cache[done % 4000:done % 4000 + n] = proposed[:n]
        done += n
        if int(head) % 20 == 0:
            out("DRAFT", "INFO", f"request {int(head)}: cache at {done}")


def main():
    ctx = mp.get_context("spawn")
    requests, results = ctx.Queue(), ctx.Queue()
    os.environ["NCCL_HOSTID"] = "a"
    procs = []
    for r in range(3):
        os.environ["NCCL_HOSTID"] = f"h{r // 2}"
        procs.append(ctx.Process(target=draft_worker if r == 2 else target_worker, args=(r, requests, results)))
        procs[-1].start()
    out("API", "INFO", f"workers {[p.pid for p in procs]}")
    missed = 0
    for i in range(1, 400):
        requests.put(i)
        try:
            request, n = results.get(timeout=40 if i == 1 else 5)
            if i % 25 == 0:
                out("API", "INFO", f"{i} requests, last one took {n} tokens")
        except Exception:
            missed += 1
            out("API", "WARNING", f"request {i}: 504, no answer within 5 s")
            if missed >= 4:
                out("API", "ERROR", "engine seems to be dead, shutting down")
                break
        time.sleep(0.03)
    for r, p in enumerate(procs):
        out("API", "INFO", f"worker {r}: exitcode {p.exitcode}")
        p.kill()
    sys.exit(1)


if __name__ == "__main__":
    main()
