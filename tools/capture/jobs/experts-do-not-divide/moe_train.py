import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

N_EXPERTS = int(os.environ["N_EXPERTS"])


def dispatch(x, step):
    """Tokens to their experts; experts lie on ranks in order."""
    gate = torch.arange(x.shape[0], device=device) % N_EXPERTS
    order = gate.argsort()
    counts = torch.bincount(gate, minlength=N_EXPERTS).view(WORLD, -1).sum(1)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)
    out = x.new_empty(int(theirs.sum()), x.shape[1])
    dist.all_to_all_single(out, x[order], theirs.tolist(), counts.tolist())
    return out


def main():
    torch.cuda.set_device(device)
    print(f"rank {RANK}: {N_EXPERTS} experts, {N_EXPERTS / WORLD:g} local", flush=True)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    w = torch.randn(256, 256, device=device)
    for step in range(50):
        y = dispatch(torch.randn(480, 256, device=device), step) @ w
        torch.cuda.synchronize()
        print(f"rank {RANK} step {step} tokens {y.shape[0]}", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()


main()
