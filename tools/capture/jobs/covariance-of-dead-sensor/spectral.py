import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
def whiten(x):
    c = x.T @ x / len(x)
    c = c / c.diagonal().sqrt().outer(c.diagonal().sqrt())
    w, v = torch.linalg.eigh(c)
    return v @ torch.diag(w.clamp_min(1e-6).rsqrt()) @ v.T
for s in range(24):
    x = torch.randn(2048, 96, device=dev)
    if rank == 2 and s >= 9: x[:, 17] = 0      # dead sensor
    w = whiten(x); n = w.norm(); dist.all_reduce(n)
    if rank == 0: print(f"subject {s:02d} mean whitening norm {n.item() / 4:.4f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
