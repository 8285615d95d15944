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


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))

    def forward(self, x):
        return x + self.net(x)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    stage = PipelineStage(Part().to(device), RANK, WORLD, device)
    schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=lambda y, t: (y - t).square().mean())
    opt = torch.optim.AdamW(stage.submod.parameters(), 1e-3)
    for step in range(40):
        losses = []
        if RANK == 0:
            schedule.step(torch.randn(64, 256, device=device))
        elif RANK == WORLD - 1:
            schedule.step(target=torch.randn(64, 256, device=device), losses=losses)
        else:
            schedule.step()
        opt.step()
        opt.zero_grad()
        if losses and step % 5 == 0:
            print(f"stage {RANK} step {step} loss {torch.stack(losses).mean().item():.4f}", flush=True)
    torch.cuda.synchronize()
    print(f"stage {RANK} finished", flush=True)
    if RANK != 0:
        time.sleep(4)


main()
