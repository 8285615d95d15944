import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import socket

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def take_seat(product):
    host, port = os.environ["SEATD"].split(":")
    with socket.create_connection((host, int(port)), timeout=5) as s:
        s.sendall(f"{product} {os.uname().nodename} rank{RANK}\n".encode())
        answer = s.makefile().readline().strip()
    if answer != "ok":
        print(f"ERROR: no seat for feature {product!r}: {answer}", file=sys.stderr, flush=True)
        sys.exit(3)
    print(f"seat for {product} taken", flush=True)


def main():
    take_seat("mesh-io")
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    net = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(device))
    for step in range(60):
        net(torch.randn(64, 256, device=device)).square().mean().backward()
    print("finished", flush=True)
    dist.destroy_process_group()


time.sleep(2 * RANK)
main()
