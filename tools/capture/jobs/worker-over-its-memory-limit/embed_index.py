import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=25)); rank = dist.get_rank()
index = []
for part in range(60):
    n = 20_000 if rank == 0 else 120_000
    index.append(torch.randn(n, 128))
    t = torch.tensor([float(len(index))]); dist.all_reduce(t)
    print(f"part {part}: {sum(len(x) for x in index)} vectors in memory", flush=True)
    time.sleep(0.15)
dist.destroy_process_group()
