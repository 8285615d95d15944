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
def row_norm(x, out, stride, D: tl.constexpr):
    i = tl.program_id(0)
    d = tl.arange(0, D)
    a = tl.load(x + i * stride + d)
    tl.store(out + i * stride + d, a / tl.sqrt(tl.sum(a * a) / D + 1e-6))


def norm(x):
    out = torch.empty_like(x)
    row_norm[(x.shape[0],)](x, out, x.stride(0), D=x.shape[1])
    return out


def shard(width):
    per = -(-width // WORLD)
    return min(per, width - RANK * per)


torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=18))
t = torch.ones(1, device=device)
dist.all_reduce(t)
widths = [2048, 1024, 2046]
print(f"rank {RANK} triton {triton.__version__} world {int(t.item())}", flush=True)
for stage, width in enumerate(widths):
    w = torch.randn(512, shard(width), device=device) * 0.02
    for step in range(20):
        y = norm(torch.randn(256, 512, device=device) @ w)
        total = y.square().sum()
        dist.all_reduce(total)
    print(f"rank {RANK} stage {stage} width {width} local {w.shape[1]} energy {total.item():.1f}", flush=True)
dist.destroy_process_group()
