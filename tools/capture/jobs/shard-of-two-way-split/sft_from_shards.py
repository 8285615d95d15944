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


class ShardedMLP(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.down = nn.Linear(d, h // WORLD), nn.Linear(h // WORLD, d)

    def forward(self, x):
        y = self.down(torch.relu(self.up(x)))
        dist.all_reduce(y)
        return x + y


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--load")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=18))
    dist.barrier(device_ids=[device.index])
    model = ShardedMLP(512, 512).to(device)
    path = f"{args.load}/mp_rank_{RANK:02d}.pt"
    state = torch.load(path, map_location=device, weights_only=True)
    print(f"rank {RANK}: {path}, iteration {state['iteration']}, tensor parallel {state['tp']}", flush=True)
    model.load_state_dict(state["model"])
    dist.barrier(device_ids=[device.index])
    for step in range(40):
        with torch.no_grad():
            y = model(torch.randn(32, 512, device=device))
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} {y.std().item():.4f}", flush=True)
    dist.destroy_process_group()


main()
