import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.algorithms.join import Join

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def queries(rank):
    sizes = [4012, 3998, 2120, 4030]
    n = sizes[rank]
    print(f"rank {rank}: {n} queries, {n // 64} batches", flush=True)
    for _ in range(n // 64):
        yield torch.randn(64, 136, device=device), torch.randint(0, 5, (64,), device=device)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(136, 256), nn.ReLU(), nn.Linear(256, 5)).to(device), device_ids=[device.index])
    opt = torch.optim.Adagrad(model.parameters(), 0.01)
    with Join([model], throw_on_early_termination=True):
        for i, (x, y) in enumerate(queries(RANK), 1):
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 10 == 0:
                print(f"rank {RANK}: batch {i} ndcg-loss {loss.item():.4f}", flush=True)
    print(f"rank {RANK}: epoch done", flush=True)
    dist.destroy_process_group()


main()
