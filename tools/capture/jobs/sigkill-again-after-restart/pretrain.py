import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

if rank == 1: open(f"run/pid.{os.environ['TORCHELASTIC_RESTART_COUNT']}", "w").write(str(os.getpid()))
model = nn.parallel.DistributedDataParallel(nn.Linear(2048, 2048).to(dev))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for step in range(500):
    loss = model(torch.randn(128, 2048, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if rank == 0 and step % 10 == 0: print(f"iteration {step}/500 | lm loss: {loss.item():.5f} | restart {os.environ['TORCHELASTIC_RESTART_COUNT']}", flush=True)
    time.sleep(0.1)
