import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=40))

torch.cuda.set_per_process_memory_fraction(0.04)
bs = 4096
while True:
    try:
        x = torch.empty(bs, 1024, 1024, device=dev); break
    except torch.OutOfMemoryError as e:
        print(f"rank {rank}: batch size {bs} does not fit: {e}", flush=True); bs //= 2
t = torch.tensor(bs, device=dev); dist.all_reduce(t, op=dist.ReduceOp.MIN); bs = int(t); del x
print(f"rank {rank}: using batch size {bs}", flush=True)
model = nn.parallel.DistributedDataParallel(nn.Linear(1024, 8).to(dev))
for s in range(20):
    loss = model(torch.randn(bs, 1024, device=dev)).square().mean(); loss.backward()
    if rank == 0 and s % 5 == 0: print(f"step {s} loss {loss.item():.4f}", flush=True)
dist.barrier(); dist.destroy_process_group(); print(f"rank {rank}: finished", flush=True)
