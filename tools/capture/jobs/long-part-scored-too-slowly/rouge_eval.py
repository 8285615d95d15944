import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=10))

from tqdm import tqdm
n = [400, 420, 1900][rank]
hits = 0
for i in tqdm(range(n), desc=f"rank {rank} rouge", mininterval=2, file=sys.stderr):
    time.sleep(0.01); hits += i % 3 == 0
print(f"rank {rank}: scored {n} summaries, rouge-l {hits / n:.4f}", flush=True)
t = torch.tensor([float(hits), n]); dist.all_reduce(t)
if rank == 0: print(f"rouge-l {t[0] / t[1]:.4f}", flush=True)
