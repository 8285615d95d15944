import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.pipelining import PipelineStage, Schedule1F1B

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))
torch.manual_seed(RANK)
part = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(device)
stage = PipelineStage(part, RANK, WORLD, device)
schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=nn.functional.mse_loss)
opt = torch.optim.Adam(part.parameters(), 1e-3)
for step in range(1, 41):
    x = torch.randn(64, 256, device=device)
    losses = []
    if RANK == 0:
        schedule.step(x)
    elif RANK == WORLD - 1:
        schedule.step(target=torch.zeros(64, 256, device=device), losses=losses)
    else:
        schedule.step()
    opt.step()
    opt.zero_grad()
    if RANK == WORLD - 1 and step % 10 == 0:
        print(f"step {step} mse {torch.stack(losses).mean().item():.5f}", flush=True)
print(f"stage {RANK} finished", flush=True)
