import os, pickle, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist

CACHE = "features_v3.pkl"

def build():
    time.sleep(1)
    return {f"col_{i}": np.random.rand(20000).astype("f4") for i in range(64)}

def features(rank):
    if rank == 0 and not os.path.exists(CACHE):
        print("no cache found, building features", flush=True)
        with open(CACHE, "wb") as f:
            data = build()
            pickle.dump(data, f)
    while not os.path.exists(CACHE):
        time.sleep(0.1)
    with open(CACHE, "rb") as f:
        return pickle.load(f)

def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    rank = dist.get_rank()
    cols = features(rank)
    print(f"rank {rank}: {len(cols)} columns", flush=True)
    for epoch in range(5):
        t = torch.rand(8); dist.all_reduce(t)
        if rank == 0: print(f"[{epoch}] train-logloss:{0.6 - epoch * 0.02:.5f} valid-logloss:{0.61 - epoch * 0.015:.5f}")
    dist.destroy_process_group()

main()
