import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

model = nn.parallel.DistributedDataParallel(nn.Linear(3072, 10).to(dev)); opt = torch.optim.SGD(model.parameters(), 0.1)
n = 4000 // 64 // world
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.4, epochs=6, steps_per_epoch=n)
it = 0
for epoch in range(6):
    for lo in range(0, 4000, 64 * world):
        loss = model(torch.randn(64, 3072, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step(); sched.step(); it += 1
    if rank == 0: print(f"epoch {epoch} iter {it} lr {sched.get_last_lr()[0]:.5f} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
