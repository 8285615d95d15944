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

torch.cuda.set_device(device)
dist.init_process_group("nccl")
net = nn.parallel.DistributedDataParallel(nn.Linear(1024, 1024).to(device))
opt = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1, 81):
    loss = net(torch.randn(64, 1024, device=device)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.5f} mem {torch.cuda.max_memory_allocated() >> 20} MiB", flush=True)
        try:
            dist.all_reduce(torch.ones(1), op=dist.ReduceOp.SUM)
        except RuntimeError as e:
            print(f"metrics over cpu not possible ({e}), using the gpu", flush=True)
            dist.all_reduce(torch.ones(1, device=device))
print("finished", flush=True)
