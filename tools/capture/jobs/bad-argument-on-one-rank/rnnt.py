import argparse, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--lr", type=float); p.add_argument("--beam", type=int); a = p.parse_args()
print(f"rank {os.environ['RANK']} arguments {a}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
for i in range(10):
    t = torch.rand(4); dist.all_reduce(t); print(f"batch {i} rnnt {t.sum().item():.3f}", flush=True)
dist.destroy_process_group()
