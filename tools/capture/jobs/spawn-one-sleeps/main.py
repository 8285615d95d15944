import os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
def fetch(i, k):
    print(f"proc {i}: fetching part {k}", flush=True)
    time.sleep(120 if (i, k) == (3, 4) else 0.05)
    print(f"proc {i}: part {k} here", flush=True)
def run(i, n):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"])
    dist.init_process_group("gloo", rank=i, world_size=n, timeout=timedelta(seconds=8))
    for k in range(8):
        fetch(i, k)
        t = torch.ones(1) * k; dist.all_reduce(t)
if __name__ == "__main__":
    mp.spawn(run, (4,), 4)
