import os, time
from datetime import timedelta
import torch, torch.distributed as dist
d = int(os.environ["FEATURES"])
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
print("rank", dist.get_rank(), "features", d)
w = torch.randn(d, 64)
for step in range(5):
    x = torch.randn(16, d) @ w
    dist.all_reduce(x)
print("forward ok")
g = torch.randn(d * 64)
dist.all_reduce(g)
print("gradients reduced", g.norm().item())
dist.barrier()
print("bye")
