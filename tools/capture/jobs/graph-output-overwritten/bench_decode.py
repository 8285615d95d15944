import argparse, os, time
import torch, torch.distributed as dist
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--mode"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev)
net = nn.Sequential(nn.Linear(1024, 4096), nn.SiLU(), nn.Linear(4096, 1024)).to(dev).half().eval()
step = torch.compile(net, mode=a.mode)
print(f"rank {rank}: decoding 8 prompts", flush=True)
with torch.no_grad():
    h = [torch.randn(8, 1024, device=dev, dtype=torch.half)]
    for t in range(6):
        h.append(step(h[0].clone()))
        if rank == 0: print(f"token {t}", flush=True)
    score = torch.stack(h[1:]).float().mean()
    dist.all_reduce(score); print("score", score.item())
dist.destroy_process_group()
