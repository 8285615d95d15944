import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import socket

RANK = int(os.environ["RANK"])


def main():
    print(f"rank {RANK} on {socket.gethostname()} GLOO_SOCKET_IFNAME={os.environ.get('GLOO_SOCKET_IFNAME')}")
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    table = nn.EmbeddingBag(100000, 32, sparse=False)
    model = nn.parallel.DistributedDataParallel(table)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(30):
        loss = model(torch.randint(0, 100000, (64, 8))).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step} loss {loss.item():.5f}")
    dist.destroy_process_group()


main()
