import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=30))

from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp
def render(t):
    time.sleep(0.1)
    if t == 20032: os.kill(os.getpid(), 9)
    return t * 2
if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as pool:
        for zoom in range(5):
            tiles = [rank * 10000 + zoom * 10 + k for k in range(6)]
            out = list(pool.map(render, tiles))
            n = torch.tensor([len(out)]); dist.all_reduce(n)
            print(f"zoom {zoom}: rank {rank} rendered {len(out)} tiles, {n.item()} in all", flush=True)
