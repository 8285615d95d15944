import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

model = nn.parallel.DistributedDataParallel(nn.Linear(128, 172).to(dev))
for epoch in range(3):
    loss = model(torch.randn(1024, 128, device=dev)).square().mean(); loss.backward()
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
