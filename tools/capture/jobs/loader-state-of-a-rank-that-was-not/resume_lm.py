import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

import torch.distributed.checkpoint as dcp

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--from", dest="source")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=30))
    dist.barrier(device_ids=[device.index])
    net = nn.Linear(512, 512).to(device)
    position = {"epoch": torch.tensor(0), "offset": torch.tensor(0)}
    state = {"net": net.state_dict(), "loader": {f"rank{RANK}": position}}
    print(f"rank {RANK}/{WORLD}: resuming from {args.source}", flush=True)
    dcp.load(state, checkpoint_id=args.source)
    print(f"rank {RANK}: loader at {position}", flush=True)
    for step in range(8001, 8051):
        y = net(torch.randn(32, 512, device=device)).mean()
        y.backward()
        dist.all_reduce(net.weight.grad)
    dist.destroy_process_group()


main()
