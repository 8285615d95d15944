import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
out = sys.stdout.write
for step in range(25):
    out(f"rank {rank}: "); time.sleep(0.001 * rank); out(f"step {step}, "); 
    x = torch.randn(20); dist.all_reduce(x)
    out(f"norm {x.norm():.2f}\n")
    if rank == 1 and step == 16:
        raise AssertionError(f"rank 1: checksum of block 16 is 7741, expected 7714")
