import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=15))
part = (nn.Sequential(nn.Linear(64, 256), nn.GELU()) if rank == 0 else nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 10))).to(dev)
stage = PipelineStage(part, rank, 2, dev)
sched = Schedule1F1B(stage, 4, loss_fn=nn.functional.cross_entropy)
opt = torch.optim.SGD(part.parameters(), 0.1)
for i in range(20):
    y = torch.randint(0, 10, (32,), device=dev)
    if i == 12: y = y[:28]                     # one shard of the labels is short
    losses = []
    if rank == 0: sched.step(torch.randn(32, 64, device=dev))
    else: sched.step(target=y, losses=losses)
    opt.step(); opt.zero_grad()
    if rank == 1: print(f"step {i} loss {torch.stack(losses).mean().item():.4f}", flush=True)
    else: print(f"step {i}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
