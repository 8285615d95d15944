import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))

import random
model = nn.parallel.DistributedDataParallel(nn.Linear(1024, 1024).to(dev))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
rng = random.Random(rank)
def sample(lo, hi):
    top = 900 if rank == 1 else 2048
    tries = 0
    while True:
        n = rng.randint(16, top)
        if lo <= n < hi: return n
        tries += 1
        if tries % 2000000 == 0: print(f"sampler: bucket [{lo}, {hi}) drew {tries} documents, none fits", flush=True)
for step in range(60):
    lo = 128 * (step // 5)
    n = sample(lo, lo + 128)
    loss = model(torch.randn(n, 1024, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"step {step} bucket {lo} len {n} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
