import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.device_mesh import init_device_mesh

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Layer(nn.Module):
    """Column-parallel, then row-parallel."""

    def __init__(self, d, mesh):
        super().__init__()
        self.group = mesh["tp"].get_group()
        n = mesh["tp"].size()
        self.a = nn.Parameter(torch.randn(d, 4 * d // n, device=device) / d ** 0.5)
        self.b = nn.Parameter(torch.randn(4 * d // n, d, device=device) / d ** 0.5)

    def forward(self, x):
        y = torch.relu(x @ self.a) @ self.b
        dist.all_reduce(y, group=self.group)
        return y


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    names = tuple(os.environ["MESH_ORDER"].split(","))
    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=names)
    print(f"mesh {names}: dp rank {mesh['dp'].get_local_rank()}, tp rank {mesh['tp'].get_local_rank()}, tp group {dist.get_process_group_ranks(mesh['tp'].get_group())}, dp group {dist.get_process_group_ranks(mesh['dp'].get_group())}")
    layer = Layer(256, mesh)
    dp = mesh["dp"].get_group()
    for step in range(100):
        loss = layer(torch.randn(32, 256, device=device)).square().mean()
        loss.backward()
        for p in layer.parameters():
            dist.all_reduce(p.grad, group=dp)
            p.data -= 1e-4 * p.grad
            p.grad = None
        torch.cuda.synchronize()
        print(f"iteration {step} loss {loss.item():.4f}")
    dist.destroy_process_group()


main()
