import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

from torch_geometric.nn import GATConv
torch.cuda.set_per_process_memory_fraction(float(sys.argv[-1]), dev)
class Net(nn.Module):
    def __init__(self): super().__init__(); self.a = GATConv(64, 64, heads=4); self.b = GATConv(256, 64, heads=1)
    def forward(self, x, e): return self.b(self.a(x, e).relu(), e)
model = nn.parallel.DistributedDataParallel(Net().to(dev)); opt = torch.optim.Adam(model.parameters(), 1e-3)
g = torch.Generator().manual_seed(rank)
for it in range(40):
    n = 3000 + int(torch.randint(0, 500, (1,), generator=g)); deg = 8
    if rank == 1 and it == 26: n, deg = 61000, 160
    x = torch.randn(n, 64, device=dev); e = torch.randint(0, n, (2, n * deg), device=dev)
    print(f"[{rank}] it {it}: {n} nodes, {n * deg} edges, reserved {torch.cuda.memory_reserved() >> 20} MiB", flush=True)
    loss = model(x, e).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
dist.destroy_process_group()
