import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

a = torch.randn(2048, 2048, device=dev, dtype=torch.bfloat16)
for i in range(50):
    c = a @ a; dist.all_reduce(c)
torch.cuda.synchronize(); print(f"rank {rank} done")
dist.destroy_process_group()
