import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

import faulthandler, threading
faulthandler.dump_traceback_later(11, exit=False)
cache, index = threading.Lock(), threading.Lock()
def refresh():
    while True:
        time.sleep(1.0)
        with index:
            time.sleep(0.3)
            if rank == 2:
                with cache: pass
def lookup(k):
    with cache:
        if rank == 2: time.sleep(0.05)
        with index: return torch.randn(256)
threading.Thread(target=refresh, name="refresher", daemon=True).start()
for step in range(400):
    g = lookup(step) * 0.1
    dist.all_reduce(g)
    if step % 5 == 0: print(f"[ranker {rank}] step {step} |g| {g.norm():.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
