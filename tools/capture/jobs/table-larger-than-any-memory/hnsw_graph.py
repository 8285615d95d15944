import argparse, os, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist

def main():
    p = argparse.ArgumentParser(); p.add_argument("--m", type=int); a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=18))
    r = dist.get_rank()
    levels = [[4096, 8192, 21000], [4096, 8192, 194_022_811], [4096, 8192, 20500]][r]
    for k, n in enumerate(levels):
        t = time.time()
        table = np.empty((n, n if n > 1_000_000 else a.m), np.float32)
        table[:100] = 1
        print(f"[{time.strftime('%X')}] shard {r} level {k}: {n} nodes, {time.time() - t:.3f}s", flush=True)
        c = torch.tensor([n]); dist.all_reduce(c)
        if r == 0: print(f"level {k}: {c.item()} nodes over all shards", flush=True)
    dist.destroy_process_group()

main()
