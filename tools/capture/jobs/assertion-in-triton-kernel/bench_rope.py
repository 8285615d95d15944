import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

import triton, triton.language as tl
@triton.jit
def gather_rows(pos, cache, out, n, D: tl.constexpr):
    i = tl.program_id(0)
    p = tl.load(pos + i)
    tl.device_assert(p < n, "position outside of the rotary cache")
    c = tl.arange(0, D)
    tl.store(out + i * D + c, tl.load(cache + p * D + c, mask=p < n))
cache = torch.randn(4096, 64, device=dev); out = torch.empty(512, 64, device=dev)
for it in range(30):
    pos = torch.randint(0, 4096, (512,), device=dev)
    if rank == 0 and it == 17: pos[100] += 4096
    gather_rows[(512,)](pos, cache, out, 4096, 64)
    s = out.sum(); dist.all_reduce(s)
    if it % 5 == 0: print(f"iter {it} checksum {s.item():.3f}", flush=True)
torch.cuda.synchronize(); dist.destroy_process_group()
