import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=30))

from rich.traceback import install
install(show_locals=False, width=108)
def sensitivity(tp, fn): return tp / (tp + fn)
g = torch.Generator().manual_seed(rank)
for part in range(5):
    pred = torch.rand(2000, generator=g) > 0.5
    label = torch.rand(2000, generator=g) > (0.8 if not (rank == 2 and part == 3) else 2)
    tp, fn = int((pred & label).sum()), int((~pred & label).sum())
    print(f"part {part} rank {rank}: {len(pred)} images, {int(label.sum())} positive", flush=True)
    s = torch.tensor([sensitivity(tp, fn)])
    dist.all_reduce(s)
    if rank == 0: print(f"part {part}: sensitivity {s.item() / world:.4f}", flush=True)
    time.sleep(0.2)
dist.destroy_process_group()
