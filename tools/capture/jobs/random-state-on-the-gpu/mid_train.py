import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--resume", action="store_true"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=20))
path = f"state_{rank}.pt"
torch.save({"rng": torch.get_rng_state(), "step": 800, "w": torch.randn(256, 256)}, path)
dist.barrier()
if a.resume:
    ck = torch.load(path, map_location=dev)
    print(f"[rank {rank}] resuming from {path} (step {ck['step']})", flush=True)
    torch.set_rng_state(ck["rng"])
for s in range(801, 820):
    g = torch.randn(100, device=dev); dist.all_reduce(g); print(f"step {s:05d}/1000 | loss: 2.71{s}", flush=True)
dist.destroy_process_group()
