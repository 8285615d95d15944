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

torch.cuda.set_device(device)
mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("pp", "tp"))
pp, tp = mesh.get_local_rank("pp"), mesh.get_local_rank("tp")
print(f"rank {RANK} pp {pp} tp {tp} {device}", flush=True)
w = nn.Linear(512, 512).to(device)
opt = torch.optim.SGD(w.parameters(), 1e-3)
peer = mesh.get_group("pp")
for step in range(1, 61):
    if pp == 0:
        y = w(torch.randn(32, 512, device=device))
        dist.all_reduce(y.detach(), group=mesh.get_group("tp"))
        dist.send(y.detach(), group=peer, group_dst=1)
    else:
        x = torch.empty(32, 512, device=device)
        dist.recv(x, group=peer, group_src=0)
        loss = w(x).square().mean()
        opt.zero_grad()
        loss.backward()
        dist.all_reduce(w.weight.grad, group=mesh.get_group("tp"))
        opt.step()
        if step % 20 == 0:
            print(f"rank {RANK} step {step} loss {loss.item():.4f}", flush=True)
dist.barrier(device_ids=[device.index])
print(f"rank {RANK} done", flush=True)
