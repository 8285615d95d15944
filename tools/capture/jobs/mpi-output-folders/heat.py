import os, sys
from datetime import timedelta
os.environ["RANK"] = os.environ["OMPI_COMM_WORLD_RANK"]; os.environ["WORLD_SIZE"] = os.environ["OMPI_COMM_WORLD_SIZE"]
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12)); sys.excepthook = sys.__excepthook__
u = torch.ones(64) * 300
for it in range(30):
    u = u + 0.1 * torch.randn(64)
    if dist.get_rank() == 2 and it == 18: u[3] = -5
    if (u < 0).any(): raise FloatingPointError(f"negative temperature {u.min():.1f} K in cell {int(u.argmin())}")
    m = u.mean(); dist.all_reduce(m)
    if it % 6 == 0: print("iteration", it, "mean", m.item() / 4)
