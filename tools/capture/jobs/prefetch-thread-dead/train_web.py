import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import gzip
import queue
import threading

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Prefetcher(threading.Thread):
    def __init__(self, paths, batch):
        super().__init__(name="prefetch", daemon=True)
        self.paths, self.batch = paths, batch
        self.queue = queue.Queue(maxsize=8)
        self.start()

    def run(self):
        rows = []
        for path in self.paths:
            with gzip.open(path, "rt") as f:
                for line in f:
                    rows.append([int(t) for t in line.split()])
                    if len(rows) == self.batch:
                        self.queue.put(torch.tensor(rows))
                        rows = []

    def __iter__(self):
        while True:
            yield self.queue.get()


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    mine = [f"text/part-{i:03d}.gz" for i in range(RANK, 16, WORLD)]
    print(f"rank {RANK}: {len(mine)} files, first {mine[0]}")
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(5001, 64), nn.Linear(64, 64)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for step, ids in enumerate(Prefetcher(mine, 64)):
        loss = model(ids.to(device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} loss {loss.item():.4f}")
        if step == 180:
            break
        time.sleep(0.03)
    dist.destroy_process_group()


main()
