import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

import logging, traceback, random
logging.basicConfig(level=logging.INFO); log = logging.getLogger("upload")
def put(name, attempt):
    if attempt < 2: raise ConnectionResetError(104, "Connection reset by peer")
for step in range(30):
    g = torch.rand(64); dist.all_reduce(g)
    if step % 10 == 9 and rank == 0:
        for a in range(3):
            try: put(step, a); log.info("uploaded step-%d.pt", step); break
            except ConnectionResetError: log.exception("upload of step-%d.pt failed, attempt %d of 5", step, a + 1); time.sleep(0.5)
    if rank == 0 and step % 5 == 0: print(f"step {step} loss {2 / (step + 1):.4f}", flush=True)
dist.barrier(); dist.destroy_process_group()
if rank == 0: print("training finished: 30 steps", flush=True)
