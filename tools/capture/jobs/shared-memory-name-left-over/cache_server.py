import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=15))

from multiprocessing import shared_memory
print(f"cache server {rank}: allocating pool kvpool_{rank}", flush=True)
pool = shared_memory.SharedMemory(f"kvpool_{rank}", create=True, size=64 << 14)
dist.barrier()
print(f"cache server {rank}: ready", flush=True)
for i in range(20): dist.barrier(); time.sleep(0.1)
pool.close(); pool.unlink()
