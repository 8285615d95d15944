import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

from torch.distributed.fsdp import fully_shard
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2)).to(dev)
for l in model: fully_shard(l) if isinstance(l, nn.Linear) else None
fully_shard(model)
opt = torch.optim.AdamW(model.parameters(), 1e-3)
rows = [{"feats": torch.randn(256), "toxic": i % 2} for i in range(400)]
if rank == 1: rows[211] = {"feats": torch.randn(256), "target": 1}
for step in range(50):
    batch = rows[step * 8:step * 8 + 8]
    y = torch.tensor([b["toxic"] for b in batch], device=dev)
    loss = nn.functional.cross_entropy(model(torch.stack([b["feats"] for b in batch]).to(dev)), y)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 5 == 0: print(f"step {step} loss {loss.item():.4f}", flush=True)
    time.sleep(0.05)
