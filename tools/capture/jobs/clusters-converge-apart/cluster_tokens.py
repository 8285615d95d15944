import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--k", type=int); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=12))
torch.manual_seed(0); cent = torch.randn(a.k, 32, device=dev)
torch.manual_seed(10 + rank); x = torch.randn(20000, 32, device=dev) * (1 + rank)
last, it = None, 0
while True:
    d = torch.cdist(x, cent); lab = d.argmin(1); inertia = d.min(1).values.square().sum().item()
    if last is not None and abs(last - inertia) / last < 0.002: break
    last = inertia; it += 1
    s = torch.zeros(a.k, 33, device=dev).index_add_(0, lab, torch.cat([x, torch.ones(len(x), 1, device=dev)], 1))
    dist.all_reduce(s); cent = s[:, :32] / s[:, 32:].clamp_min(1)
    print(f"rank {rank} iteration {it} inertia {inertia:.1f}", flush=True); time.sleep(0.1)
print(f"rank {rank} stopped after {it} iterations", flush=True)
hist = torch.bincount(lab, minlength=a.k).float()
out = [torch.empty_like(hist) for _ in range(2)]
dist.all_gather(out, hist)
print(f"rank {rank} largest cluster {max(o.max().item() for o in out):.0f}", flush=True)
dist.destroy_process_group()
