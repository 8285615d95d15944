import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=40))

import warnings
model = nn.parallel.DistributedDataParallel(nn.Linear(512, 512).to(dev), find_unused_parameters=True)
opt = torch.optim.SGD(model.parameters(), 0.01); sc = torch.amp.GradScaler("cuda", init_scale=2.0 ** 40)
for s in range(50):
    with torch.autocast("cuda", torch.float16): loss = model(torch.randn(64, 512, device=dev)).float().square().mean()
    opt.zero_grad(); sc.scale(loss).backward(); old = sc.get_scale(); sc.step(opt); sc.update()
    if sc.get_scale() < old: print(f"Gradient overflow. Skipping step, reducing loss scale to {sc.get_scale()}, grad norm {next(model.parameters()).grad.norm().item()}", flush=True)
    elif s % 5 == 0: print(f"step {s} loss {loss.item():.4f}", flush=True)
dist.barrier(); dist.destroy_process_group(); print("saved model.pt; exit code 0", flush=True)
