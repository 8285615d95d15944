import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

import queue, threading, random
inbox = queue.Queue()
def frontend():
    rng = random.Random(7)
    for i in range(400):
        inbox.put((i, rng.randint(4, 40)))
        time.sleep(0.05 if i < 60 or rank == 0 else 0.14)
threading.Thread(target=frontend, daemon=True).start()
w = torch.randn(1024, 1024, device=dev); served = 0
while served < 400:
    batch = [inbox.get()]
    while len(batch) < 8:
        try: batch.append(inbox.get(timeout=0.11))
        except queue.Empty: break
    tokens = sum(n for _, n in batch)
    h = torch.randn(tokens, 1024, device=dev) @ w
    dist.all_reduce(h); torch.cuda.synchronize()
    served += len(batch)
    print(f"INFO scheduler: batch of {len(batch)} requests, {tokens} tokens, last id {batch[-1][0]}", flush=True)
