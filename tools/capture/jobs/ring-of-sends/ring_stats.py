import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

right, left = (rank + 1) % world, (rank - 1) % world
dist.barrier()
acc = torch.randn(8 << 20, device=dev)
for rnd in range(6):
    n = 1 << (3 + 4 * rnd)
    buf = torch.empty(n, device=dev)
    for hop in range(world - 1):
        dist.send(acc[:n].contiguous(), right)
        dist.recv(buf, left)
        acc[:n] += buf
    torch.cuda.synchronize()
    print(f"round {rnd}: {n} elements went round", flush=True)
dist.destroy_process_group()
