import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

replicas = [dist.new_group([0, 2]), dist.new_group([1, 3])]
mine = replicas[rank % 2]
w = torch.randn(8)
print(f"rank {rank}: broadcasting initial weights in {dist.get_process_group_ranks(mine)}", flush=True)
dist.broadcast(w, src=0, group=mine)
print(f"rank {rank}: weights ready", flush=True)
