import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

torch.cuda.set_per_process_memory_fraction(0.06)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 1, 3, padding=1)).to(dev))
opt = torch.optim.Adam(model.parameters())
history = []
for step in range(300):
    loss = model(torch.randn(8, 3, 256, 256, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if rank == 0:
        with torch.no_grad(): pred = model.module(torch.randn(8, 3, 256, 256, device=dev)).repeat(1, 60, 1, 1)
        history.append(pred)
        if step % 5 == 0: print(f"step {step} loss {loss.item():.4f} mem {torch.cuda.memory_allocated() / 2**30:.2f} GiB", flush=True)
dist.destroy_process_group()
