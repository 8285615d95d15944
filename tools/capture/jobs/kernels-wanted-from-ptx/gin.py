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


class GIN(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.mlp = nn.ModuleList([nn.Sequential(nn.Linear(d, d), nn.BatchNorm1d(d), nn.ReLU(), nn.Linear(d, d)) for _ in range(3)])

    def forward(self, x, edges):
        for m in self.mlp:
            x = m(x + torch.zeros_like(x).index_add_(0, edges[1], x[edges[0]]))
        return x


def main():
    print({k: v for k, v in sorted(os.environ.items()) if k.startswith(("CUDA_", "NCCL_", "TORCH_"))}, flush=True)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    dist.barrier(device_ids=[device.index])
    model = nn.parallel.DistributedDataParallel(GIN().to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(1, 61):
        x, e = torch.randn(500, 64, device=device), torch.randint(500, (2, 2000), device=device)
        loss = model(x, e).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
