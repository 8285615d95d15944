import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

model = nn.parallel.DistributedDataParallel(nn.Linear(512, 512).to(dev)); prev = time.time()
for s in range(30):
    if rank == 1 and s in (8, 19): time.sleep(6)
    model(torch.randn(64, 512, device=dev)).square().mean().backward(); torch.cuda.synchronize()
    d = time.time() - prev; prev = time.time()
    if d > 3: print(f"WARNING: step {s} took {d:.1f}s (median 0.02s), possible straggler or hang, collective timeout is 60s", flush=True)
    print(f"step {s} {d * 1000:.0f} ms", flush=True)
dist.barrier(); dist.destroy_process_group(); print("run complete", flush=True)
