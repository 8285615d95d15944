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


class Block(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


def lengths():
    """Bucketed documents; the tail shard comes unbucketed."""
    while True:
        for k in range(40):
            yield 512 if RANK == 0 or k < 6 else 400 + 3 * k


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    block = torch.compile(Block().to(device), fullgraph=True, dynamic=False, backend="aot_eager")
    model = nn.parallel.DistributedDataParallel(block)
    opt = torch.optim.AdamW(model.parameters())
    for step, n in zip(range(200), lengths()):
        loss = model(torch.randn(2, n, 128, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 2 == 0:
            print(f"step {step} len {n} mlm {loss.item():.4f}")
        time.sleep(0.1)
    dist.destroy_process_group()


main()
