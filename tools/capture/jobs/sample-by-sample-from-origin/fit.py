import datetime, os, time
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=12))
rank = dist.get_rank(); m = DDP(nn.Linear(64, 64)); o = torch.optim.SGD(m.parameters(), 0.01)
def p(*a): print(f"rank:{rank}", *a, sep="\t", flush=True)
p("start", f"world={dist.get_world_size()}")
for s in range(1, 80):
    t = time.time()
    if rank == 3 and s > 30:
        for k in range(6):
            time.sleep(3 if s > 33 else 0.4)
            if s > 33: p("slow read", f"sample {s * 8 + k}", f"{time.time() - t:.1f}s", "cache miss, reading from origin")
    x = torch.randn(8, 64); l = (m(x) - x).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
    if s % 10 == 0: p("step", s, f"{l.item():.4f}", f"{time.time() - t:.2f}s")
p("end")
