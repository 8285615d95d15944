import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn


RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])


def mean_over_ranks(t):
    dist.all_reduce(t)
    return t / WORLD


def kl(update):
    return 0.004 * (1 + update / 10) + (0.006 if RANK == 3 and update >= 12 else 0.0)


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    torch.manual_seed(0)
    policy = nn.Linear(64, 8)
    for update in range(60):
        for epoch in range(4):
            k = kl(update)
            if k > 0.0125:
                print(f"update {update} epoch {epoch}: kl {k:.4f} above target, stopping early")
                break
            policy.zero_grad()
            policy(torch.randn(128, 64)).square().mean().backward()
            for p in policy.parameters():
                p.grad = mean_over_ranks(p.grad)
                p.data -= 1e-3 * p.grad
        r = mean_over_ranks(torch.rand(()))
        if update % 2 == 0:
            print(f"update {update} reward {r.item():.3f} kl {k:.4f}")
        time.sleep(0.1)
    dist.destroy_process_group()


main()
