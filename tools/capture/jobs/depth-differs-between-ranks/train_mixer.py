import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

depth = int(os.environ.get("DEPTH", "4"))
print(f"mixer depth {depth} dim 256", flush=True)
model = nn.parallel.DistributedDataParallel(nn.Sequential(*[nn.Linear(256, 256) for _ in range(depth)]).to(dev))
model(torch.randn(4, 256, device=dev)).sum().backward()
print("ok")
