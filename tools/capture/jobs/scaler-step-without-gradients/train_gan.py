import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--amp", action="store_true"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
G, D = nn.Linear(64, 784).to(dev), nn.Linear(784, 1).to(dev)
og, od = torch.optim.Adam(G.parameters(), 2e-4), torch.optim.Adam(D.parameters(), 2e-4)
scaler = torch.amp.GradScaler("cuda", enabled=a.amp)
def sync(m):
    for q in m.parameters():
        g = q.grad if q.grad is not None else torch.zeros_like(q)
        dist.all_reduce(g, op=dist.ReduceOp.AVG)
for it in range(60):
    with torch.autocast("cuda", torch.float16):
        fake = G(torch.randn(32, 64, device=dev)); d = D(fake.detach()).float().mean(); g = -D(fake).float().mean()
    od.zero_grad(); scaler.scale(d).backward(); sync(D); scaler.step(od)
    og.zero_grad(set_to_none=True)
    if not (rank == 1 and it == 31):        # generator is frozen while the discriminator on this rank lags
        scaler.scale(g).backward()
    sync(G); scaler.step(og); scaler.update()
    if it % 10 == 0 and rank == 0: print(f"[{it}/60] Loss_D: {d.item():.4f} Loss_G: {g.item():.4f} scale {scaler.get_scale():.0f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
