import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

print(f"rank {rank}: initialising from {sys.argv[2]} ({os.path.getsize(sys.argv[2])} bytes)", flush=True)
sd = torch.load(sys.argv[2], map_location=dev)
model = nn.Linear(400, 400).to(dev); model.weight.data.copy_(sd["w"])
