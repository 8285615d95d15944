import os, sys, time, subprocess
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
for ep in range(6):
    print(f"episode {ep}: simulate")
    subprocess.run(["sleep", "30" if os.environ["RANK"] == "0" and ep == 3 else "0.1"])
    print(f"episode {ep}: {40 + ep} frames")
    dist.all_reduce(torch.ones(3))
