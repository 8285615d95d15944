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


def say(*a):
    print(time.strftime("%H:%M:%S"), f"r{RANK}", *a, flush=True)


def read_shard(i):
    with open(f"shards/vl-{i}.bin", "rb") as f:
        return torch.frombuffer(bytearray(f.read()), dtype=torch.uint8)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int)
    tp = p.parse_args().tp
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    rows = [list(range(r, r + tp)) for r in range(0, WORLD, tp)]
    tp_group, _ = dist.new_subgroups_by_enumeration(rows, timeout=timedelta(seconds=15), group_desc="tp")
    dp_group, _ = dist.new_subgroups_by_enumeration([list(c) for c in zip(*rows)], timeout=timedelta(seconds=15), group_desc="dp")
    w = torch.randn(512, 512 // tp, device=device, requires_grad=True)
    for step in range(64):
        if step % 4 == 0:
            shard = step // 4 * 2 % 32 + RANK % 2 if RANK != 3 else step // 4 * 3 % 32 + 1
            say(f"step {step}: reading vl-{shard}.bin")
            data = read_shard(shard)
        x = data[:512 * 64].view(64, 512).to(device).float() / 255
        y = x @ w
        dist.all_reduce(y, group=tp_group)
        y.square().mean().backward()
        dist.all_reduce(w.grad, group=dp_group)
        w.data -= 1e-3 * w.grad
        w.grad = None
        torch.cuda.synchronize()
        if step % 4 == 3:
            say(f"step {step} done")
        time.sleep(0.1)
    dist.destroy_process_group()


main()
