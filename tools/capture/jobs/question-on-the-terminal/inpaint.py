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


def run_folder(name):
    folder = f"runs/{name}"
    if os.path.exists(f"{folder}/last.ckpt"):
        answer = input(f"{folder} has a checkpoint already. Overwrite it? [y/N] ")
        if answer.lower() != "y":
            sys.exit("not overwritten")
    os.makedirs(folder, exist_ok=True)
    return folder


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--name")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    print(f"rank {RANK}/{WORLD} on {torch.cuda.get_device_name(device)}", flush=True)
    dist.barrier(device_ids=[device.index])
    if RANK == 0:
        print("run folder:", run_folder(args.name), flush=True)
    dist.barrier(device_ids=[device.index])
    net = nn.parallel.DistributedDataParallel(nn.Conv2d(4, 3, 3).to(device))
    for step in range(50):
        net(torch.randn(2, 4, 64, 64, device=device)).mean().backward()
    dist.destroy_process_group()


main()
