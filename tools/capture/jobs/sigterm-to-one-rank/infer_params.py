import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

if rank == 1: open("run/pid", "w").write(str(os.getpid()))
model = nn.parallel.DistributedDataParallel(nn.Conv2d(3, 64, 5).to(dev))
opt = torch.optim.Adam(model.parameters())
for step in range(400):
    loss = model(torch.randn(8, 3, 128, 128, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(f"map {step} chi2 {loss.item():.4f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
