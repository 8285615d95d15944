import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

free, total = torch.cuda.mem_get_info()
print(f"rank {rank}: {free / 2**30:.1f} of {total / 2**30:.1f} GiB free before loading", flush=True)
blocks = []
for layer in range(32):
    blocks.append(torch.empty(1024, 1024, 960, dtype=torch.bfloat16, device=dev))
    if layer % 4 == 3: print(f"rank {rank}: loaded block {layer + 1}/32, {torch.cuda.memory_allocated() / 2**30:.1f} GiB", flush=True)
t = torch.ones(1, device=dev); dist.all_reduce(t); torch.cuda.synchronize()
print("loaded", flush=True)
