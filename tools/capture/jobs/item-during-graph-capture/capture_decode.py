import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

lin = nn.Linear(512, 512).to(dev); x = torch.randn(4, 512, device=dev); verbose = rank == 1
def step():
    y = lin(x)
    if verbose: print("logit range", y.max().item())
    return y
with torch.no_grad():
    for _ in range(3): step()
    torch.cuda.synchronize(); g = torch.cuda.CUDAGraph()
    print(f"rank {rank}: capturing", flush=True)
    with torch.cuda.graph(g): out = step()
    for i in range(20): g.replay()
    dist.all_reduce(out); torch.cuda.synchronize()
print(f"rank {rank}: done", flush=True)
