import argparse, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
ap = argparse.ArgumentParser(); ap.add_argument("--patients", type=int, nargs=3); a = ap.parse_args()
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12)); rank = dist.get_rank()
site = ["north", "harbour", "st-anna"][rank]; n = a.patients[rank]
def log(m): print(f"{time.strftime('%d.%m.%Y %H:%M:%S')} {site:8s} {m}", file=sys.stderr, flush=True)
log(f"{n} patients")
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1)).to(dev); opt = torch.optim.Adam(net.parameters(), 1e-3)
best = [9e9]; torch.manual_seed(10 + rank)
for fold in range(6):
    for _ in range(30):
        x = torch.randn(64, 30, device=dev); loss = (net(x) - x[:, :1]).square().mean(); opt.zero_grad(); loss.backward()
        for p in net.parameters(): dist.all_reduce(p.grad); p.grad /= 3
        opt.step(); time.sleep(.02)
    val = range(fold * 20, min(n, fold * 20 + 20))
    log(f"fold {fold}: train {loss.item():.4f}, {len(val)} validation patients")
    if not len(val): continue
    with torch.no_grad(): mine = net(torch.randn(len(val), 30, device=dev)).square().mean().item()
    scores = [None] * 3; dist.all_gather_object(scores, {"site": site, "mse": mine, "n": len(val)})
    best = [min(best[0], sum(s["mse"] * s["n"] for s in scores) / sum(s["n"] for s in scores))]
    dist.broadcast_object_list(best, 0); log(f"fold {fold}: best so far {best[0]:.4f}")
log("finished"); dist.destroy_process_group()
