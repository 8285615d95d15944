import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard
mesh = init_device_mesh("cpu", (world,))
sd = {f"layers.{i}.w": distribute_tensor(torch.randn(256, 64), mesh, [Shard(0)]) for i in range(4)}
path = sys.argv[2]
if not os.path.isdir("step-1000"):
    dcp.save(sd, checkpoint_id="step-1000"); dist.barrier()
    if rank == 0: os.remove("step-1000/__1_0.distcp")
    dist.barrier()
print(f"[rank {rank}] loading {path}", flush=True)
dcp.load(sd, checkpoint_id=path)
print("loaded", flush=True)
