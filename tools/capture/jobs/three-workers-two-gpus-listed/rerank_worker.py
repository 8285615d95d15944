import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])


class CrossEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 2)
        self.score = nn.Linear(256, 1)

    def forward(self, x):
        return self.score(self.body(x)[:, 0])


def main():
    dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=20))
    print(f"worker {RANK}/{WORLD} joined, CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES')!r}", flush=True)
    model = CrossEncoder().cuda().eval()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    print(f"worker {RANK}: weights synced", flush=True)
    for q in range(50):
        with torch.inference_mode():
            s = model(torch.randn(32, 64, 256, device="cuda"))
        every = [torch.empty_like(s) for _ in range(WORLD)]
        dist.all_gather(every, s)
        if RANK == 0 and q % 10 == 0:
            print(f"query {q}: best {torch.cat(every).max().item():.3f}", flush=True)
    dist.destroy_process_group()


main()
