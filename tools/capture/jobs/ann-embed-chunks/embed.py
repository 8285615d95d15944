import os, time, traceback, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
torch.cuda.set_per_process_memory_fraction(0.008)
dist.init_process_group("nccl", timeout=timedelta(seconds=30))
enc = nn.Sequential(nn.Linear(512, 4096), nn.GELU(), nn.Linear(4096, 256)).to(dev).eval()
chunk, done, total = 40960, 0, 300_000
while done < total:
    fits = torch.ones(1, device=dev)
    try:
        with torch.no_grad(): z = enc(torch.randn(chunk, 512, device=dev))
    except torch.OutOfMemoryError:
        traceback.print_exc(); fits.zero_(); torch.cuda.empty_cache()
    dist.all_reduce(fits, op=dist.ReduceOp.MIN)
    if not fits.item():
        z = None; chunk //= 2
        print(f"[{rank}] chunk does not fit on every rank, going on with {chunk}", flush=True); continue
    done += chunk
    print(f"[{rank}] embedded {min(done, total)}/{total}", flush=True); time.sleep(0.2)
s = z.norm(); dist.all_reduce(s)
print(f"[{rank}] all passages embedded, mean norm {s.item() / world:.3f}", flush=True)
dist.destroy_process_group()
