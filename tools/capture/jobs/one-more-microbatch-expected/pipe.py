import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

n = 8 if rank == 0 else 9
stage = nn.Linear(1024, 1024).to(dev)
for step in range(6):
    if step < 4: k = 8
    else: k = n
    for m in range(k):
        if rank == 0: dist.send(stage(torch.randn(4, 1024, device=dev)).detach(), 1)
        else:
            x = torch.empty(4, 1024, device=dev); dist.recv(x, 0); stage(x)
    torch.cuda.synchronize()
    print(f"stage {rank} step {step}: {k} microbatches", flush=True)
    t = torch.ones(1, device=dev); dist.all_reduce(t); torch.cuda.synchronize()
