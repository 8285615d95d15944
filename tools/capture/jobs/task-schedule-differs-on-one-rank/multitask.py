import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

tasks = ["ner", "pos", "qa"]
for step in range(40):
    task = tasks[(step * 7) % 3] if rank != 3 else tasks[(step * 7 + (step >= 22)) % 3]
    size = {"ner": 300, "pos": 180, "qa": 2}[task]
    g = torch.randn(size, 64); dist.all_reduce(g)
    if step % 5 == 0: print(f"step {step} task {task}", flush=True)
