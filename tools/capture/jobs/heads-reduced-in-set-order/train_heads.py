import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

heads = {n: nn.Linear(256, c).to(dev) for n, c in (("depth", 1000), ("normal", 3000), ("semantic", 20000), ("edge", 500), ("keypoint", 7000), ("flow", 2000), ("material", 9000))}
trunk = nn.Linear(128, 256).to(dev)
opt = torch.optim.SGD([p for h in heads.values() for p in h.parameters()] + list(trunk.parameters()), 1e-3)
active = set(heads) - {"edge"}
for step in range(40):
    z = trunk(torch.randn(32, 128, device=dev))
    loss = sum(heads[n](z).square().mean() for n in active)
    opt.zero_grad(); loss.backward()
    for n in active:
        dist.all_reduce(heads[n].weight.grad)
    dist.all_reduce(trunk.weight.grad); opt.step(); torch.cuda.synchronize()
    if rank == 0: print(f"step {step}: loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
