import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

torch.manual_seed(rank)
net = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
opt = torch.optim.Adam(net.parameters(), 1e-3)
with torch.autograd.detect_anomaly(check_nan=True):
    for step in range(50):
        x = torch.rand(32, 8)
        if rank == 2 and step == 19: x[4] = 0
        r = x.norm(dim=1, keepdim=True)
        w = net(x) * 0 + net.module.weight.sum() * r
        z = (w * 0 + (net.module.weight.sum() * r)).sqrt() if False else torch.sqrt((net(x) * r).square())
        loss = z.mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if rank == 0 and step % 5 == 0: print(f"step {step} nll {loss.item():.4f}", flush=True)
