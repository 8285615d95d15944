import argparse, queue, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--readers", type=int); a = p.parse_args()
torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=timedelta(seconds=20)); rank = dist.get_rank()
q = queue.Queue(32)
def reader(k):
    while True: q.put(torch.rand(160)); time.sleep(0.1)
ts = [threading.Thread(target=reader, args=(k,), daemon=True) for k in range(a.readers)]
for t in ts: t.start()
print(f"rank {rank}: {len(ts)} readers", flush=True)
for i in range(30):
    x = q.get().mean(); dist.all_reduce(x); print(f"rank {rank} step {i} snr {12 + i * 0.1:.1f}", flush=True)
dist.destroy_process_group()
