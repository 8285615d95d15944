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

VIEWS = {0: 320, 1: 1160, 2: 280, 3: 300}


class Bank:
    """Features of two views of every scene."""

    def __init__(self):
        self.items = {}

    def fill(self, n):
        for i in range(n):
            self.items[i] = torch.randn(2 * 2**20, device=device)

    def keep_first_views(self):
        for i in list(self.items):
            if i % 2:
                del self.items[i]


def main():
    torch.cuda.set_device(device)
    torch.cuda.set_per_process_memory_fraction(0.1)
    dist.init_process_group("nccl", timeout=timedelta(seconds=18))
    net = nn.parallel.DistributedDataParallel(nn.Linear(2048, 2048).to(device))
    opt = torch.optim.SGD(net.parameters(), 0.01)
    bank = Bank()
    for step in range(1, 81):
        if step == 20:
            bank.fill(VIEWS[RANK])
            print(f"rank {RANK}: bank has {len(bank.items)} views, {torch.cuda.memory_allocated() >> 20} MiB allocated, {torch.cuda.memory_reserved() >> 20} MiB reserved", flush=True)
        if step == 40:
            bank.keep_first_views()
            print(f"rank {RANK}: second views dropped, {len(bank.items)} left, {torch.cuda.memory_allocated() >> 20} MiB allocated, {torch.cuda.memory_reserved() >> 20} MiB reserved", flush=True)
        loss = net(torch.randn(128, 2048, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05)
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} loss {loss.item():.4f}", flush=True)
        if step == 60:
            similarity = torch.empty(32768, 32768, device=device)
            print(f"rank {RANK}: similarity {tuple(similarity.shape)}", flush=True)
            del similarity
    dist.destroy_process_group()


main()
