import os, time
from datetime import timedelta
import torch, torch.distributed as dist

def linearise(node, depth=0):
    kind, kids = node
    out = [kind]
    for k in kids: out += linearise(k, depth + 1)
    return out

def sample(i, rank):
    depth = 40 + (i * 13 + rank) % 60
    if (i, rank) == (11, 2): depth = 4000       # generated parser table
    n = ("leaf", [])
    for _ in range(depth): n = ("call", [n])
    return n

dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
for i in range(25):
    toks = linearise(sample(i, rank))
    c = torch.tensor([float(len(toks))]); dist.all_reduce(c)
    if rank == 0: print(f"step {i} tokens {int(c.item())} loss {5 - i * 0.05:.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
