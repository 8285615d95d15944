import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
part = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 256)).to(dev)
x = torch.randn(16, 256)
if rank == 1: part = part.to(torch.bfloat16)
stage = PipelineStage(part, rank, world, dev)
sched = ScheduleGPipe(stage, n_microbatches=4, loss_fn=lambda o, t: (o - t).float().square().mean())
for step in range(5):
    if rank == 0: sched.step(x.to(dev))
    else: sched.step(target=torch.zeros(16, 256, device=dev), losses=[])
    print(f"stage {rank} step {step} done", flush=True)
dist.destroy_process_group()
