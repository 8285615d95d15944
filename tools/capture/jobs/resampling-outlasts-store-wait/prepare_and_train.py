import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
store = dist.distributed_c10d._get_default_store()
if rank == 0:
    for k in range(1, 13):
        time.sleep(2.2)
        print(f"resampling to 16 kHz: {k * 4000}/48000 clips, {k * 2.2:.0f}s", flush=True)
    store.set("clips/ready", "48000")
    print("48000 clips resampled", flush=True)
else:
    print(f"rank {rank} waits for clips/ready", flush=True)
    store.wait(["clips/ready"], timedelta(seconds=12))
for i in range(20):
    t = torch.rand(4); dist.all_reduce(t)
    if i % 5 == 0: print(f"rank {rank} batch {i} {t.sum().item() / 3:.3f}", flush=True)
dist.destroy_process_group()
