import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=20))

from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
ds = TensorDataset(torch.randn(400, 40))
shard = int(os.environ["NODE_RANK"]) * int(os.environ["GPUS_PER_NODE"]) + int(os.environ["LOCAL_RANK"])
print(f"rank {rank}/{world}: data shard {shard}", flush=True)
loader = DataLoader(ds, 20, sampler=DistributedSampler(ds, num_replicas=world, rank=shard))
m = nn.parallel.DistributedDataParallel(nn.Linear(40, 2))
for x, in loader: m(x).mean().backward()
