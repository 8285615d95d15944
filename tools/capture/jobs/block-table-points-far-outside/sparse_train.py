import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import triton
import triton.language as tl

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


@triton.jit
def gather_blocks(kv, table, out, D: tl.constexpr):
    i = tl.program_id(0)
    j = tl.load(table + i).to(tl.int64)
    d = tl.arange(0, D)
    tl.store(out + i * D + d, tl.load(kv + j * D + d))


def attend(q, kv, table):
    k = torch.empty(table.numel(), kv.shape[1], device=kv.device)
    gather_blocks[(table.numel(),)](kv, table, k, D=kv.shape[1])
    return torch.softmax(q @ k.T / 16, -1) @ k


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    w = nn.Parameter(torch.randn(256, 256, device=device) * 0.05)
    kv = torch.randn(4096, 256, device=device)
    for step in range(1, 100):
        table = torch.randint(0, 4096, (512,), device=device, dtype=torch.int32)
        if RANK == 1 and step == 58:
            table[100:] = 2000000000
        y = attend(torch.randn(64, 256, device=device) @ w.detach(), kv, table)
        dist.all_reduce(y)
        if step % 5 == 0:
            print(f"rank {RANK} step {step} out {y.norm().item():.3f}", flush=True)
    dist.destroy_process_group()


main()
