import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

model = nn.parallel.DistributedDataParallel(nn.Linear(512, 512).to(dev))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
@torch.no_grad()
def evaluate():
    t0 = time.time()
    for i in range(1, 401):
        model.module(torch.randn(16, 512, device=dev)); time.sleep(0.07)
        if i % 40 == 0: print(f"eval: {i}/400 images captioned, {i / (time.time() - t0):.1f} img/s", flush=True)
for epoch in range(2):
    for it in range(30):
        loss = model(torch.randn(64, 512, device=dev)).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(f"epoch {epoch} train loss {loss.item():.4f}", flush=True)
    if rank == 0: evaluate()
dist.destroy_process_group()
