import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

import fcntl
print(f"rank {rank}: {4 - rank} shards cached", flush=True)
if rank == 2:
    print("rank 2: cache entry 3f9a is missing, waiting for /nfs/corpora/tok.lock", flush=True)
    with open("tok.lock") as f: fcntl.flock(f, fcntl.LOCK_EX)
dist.monitored_barrier(timeout=timedelta(seconds=12))
print("all tokenised")
