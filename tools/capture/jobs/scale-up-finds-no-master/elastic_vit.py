import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=60))

m = nn.parallel.DistributedDataParallel(nn.Linear(64, 64)); start = 0
if os.path.exists("snap.pt"): start = torch.load("snap.pt")["step"]
print(f"rank {rank}/{world} on {os.uname().nodename} starts at {start}, restart {os.environ['TORCHELASTIC_RESTART_COUNT']}", flush=True)
for step in range(start, 150):
    m(torch.randn(8, 64)).mean().backward(); time.sleep(0.15)
    if rank == 0 and step % 10 == 9:
        torch.save({"step": step + 1}, "snap.tmp"); os.replace("snap.tmp", "snap.pt"); print(f"step {step + 1}/150 saved", flush=True)
print(f"rank {rank}: training finished", flush=True)
dist.destroy_process_group()
