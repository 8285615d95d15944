import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

LANGS = ["de", "fr", "cs", "ja", "sw"]


class Part(nn.Module):
    def __init__(self, known):
        super().__init__()
        self.base = nn.Linear(256, 256)
        self.adapters = nn.ModuleDict({k: nn.Linear(256, 256) for k in known})
        self.lang = "de"

    def forward(self, x):
        return x + self.adapters[self.lang](torch.relu(self.base(x)))


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=30))
    part = Part(LANGS[:4] if RANK == 1 else LANGS).to(device)
    print(f"stage {RANK}: {sum(p.numel() for p in part.parameters()):,} parameters", flush=True)
    stage = PipelineStage(part, RANK, WORLD, device)
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=lambda y, t: (y - t).square().mean())
    opt = torch.optim.AdamW(part.parameters(), 1e-3)
    for step in range(200):
        part.lang = LANGS[:4][step % 4] if step < 60 else LANGS[4]
        losses = []
        if RANK == 0:
            schedule.step(torch.randn(32, 256, device=device))
        elif RANK == WORLD - 1:
            schedule.step(target=torch.randn(32, 256, device=device), losses=losses)
        else:
            schedule.step()
        opt.step()
        opt.zero_grad()
        torch.cuda.synchronize()
        if step % 10 == 0:
            print(f"stage {RANK} step {step} lang {part.lang}" + (f" loss {torch.stack(losses).mean().item():.4f}" if losses else ""), flush=True)
        time.sleep(0.03)
    dist.destroy_process_group()


main()
