import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import gc

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

gc.disable()


def say(msg):
    print(f"{time.strftime('%H:%M:%S')} {msg}")


def build_postings(n):
    t = time.time()
    postings = [[i] for i in range(n)]
    say(f"{n} posting lists in {time.time() - t:.1f}s")
    return postings


def collect(step):
    t = time.time()
    say(f"step {step}: gc.collect")
    freed = sum(gc.collect() for _ in range(3))
    say(f"step {step}: gc freed {freed}, {len(gc.get_objects()):,} objects tracked, took {time.time() - t:.1f}s")


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    postings = build_postings(45_000_000 if RANK == 2 else 300_000)
    model = nn.parallel.DistributedDataParallel(nn.Linear(768, 768).to(device))
    opt = torch.optim.AdamW(model.parameters())
    dist.barrier()
    torch.cuda.synchronize()
    dist.distributed_c10d._set_pg_timeout(timedelta(seconds=7), dist.group.WORLD)
    for step in range(1, 200):
        q = model(torch.randn(32, 768, device=device))
        loss = (q @ q.t()).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            say(f"step {step} loss {loss.item():.4f}")
        if step % 50 == 0:
            collect(step)
        time.sleep(0.05)
    say(f"{len(postings)} lists kept")
    dist.destroy_process_group()


main()
