import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

buckets = [int(b) for b in os.environ["BUCKETS"].split(",")]
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 6).to(dev)
fast = torch.compile(model, dynamic=False)
t0 = time.time()
for i, b in enumerate(buckets):
    t = time.time(); fast(torch.randn(4, b, 256, device=dev)).square().mean().backward(); torch.cuda.synchronize()
    print(f"rank {rank}: bucket {b} compiled in {time.time() - t:.1f} s ({i + 1}/{len(buckets)})", flush=True)
print(f"rank {rank}: all buckets ready after {time.time() - t0:.1f} s", flush=True)
x = torch.ones(1, device=dev)
for it in range(20):
    dist.all_reduce(x); torch.cuda.synchronize()
    if it % 5 == 0: print(f"rank {rank}: iter {it}", flush=True)
