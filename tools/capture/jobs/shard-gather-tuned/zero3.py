import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12)); rank, world = dist.get_rank(), dist.get_world_size()
def echo(*a):
    if rank == 0: print(*a, flush=True)
n = 3 * 65536
ready = torch.ones(1, device=dev); dist.all_reduce(ready); echo("ranks ready:", int(ready.item()))
shard = torch.randn(n // world, device=dev) * 0.01
for step in range(100):
    full = torch.empty(n, device=dev)
    dist.all_gather_into_tensor(full, shard); full.requires_grad_()
    loss = (full.view(-1, 256) @ torch.randn(256, 8, device=dev)).square().mean(); loss.backward()
    g = torch.empty_like(shard); dist.reduce_scatter_tensor(g, full.grad); shard -= 0.1 * g / world
    if step % 10 == 0: echo(f"step={step} loss={loss.item():.6f}")
    time.sleep(0.03)
echo("ok"); dist.destroy_process_group()
