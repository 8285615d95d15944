import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))

import faulthandler, multiprocessing as mp
faulthandler.dump_traceback_later(26, exit=False)
def tokenise(q, n):
    for i in range(n): q.put(i)
q = mp.get_context("spawn").Queue(64) if False else mp.get_context("fork").Queue(64)
p = mp.get_context("fork").Process(target=tokenise, args=(q, 400 if rank == 0 else 260), daemon=True); p.start()
model = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(dev))
for step in range(100):
    ids = [q.get() for _ in range(4)]
    model(torch.randn(16, 256, device=dev)).mean().backward(); torch.cuda.synchronize()
    if step % 8 == 0 or rank == 1: print(f"rank {rank} step {step} samples {ids[-1] + 1}", flush=True)
dist.destroy_process_group()
