import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn


def main():
    print("emulator for power spectra, torch", torch.__version__, flush=True)
    dist.init_process_group("gloo", timeout=timedelta(seconds=25))
    rank = dist.get_rank()
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(7, 256), nn.Tanh(), nn.Linear(256, 300)))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(20):
        loss = net(torch.randn(512, 7)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"rank {rank} epoch {epoch} chi2 {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
