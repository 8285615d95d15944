import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=30))

import numpy as np
for part in range(12):
    d = f"out/part-{part:03d}-of-{rank}"; os.makedirs(d)
    for k in range(100):
        with open(f"{d}/{k:06d}.npy", "wb") as f: np.save(f, np.zeros((64,), "f4"))
    n = torch.tensor([100]); dist.all_reduce(n)
    st = os.statvfs("out")
    if rank == 0: print(f"part {part}: {n.item()} samples, volume {100 - 100 * st.f_bavail // st.f_blocks}% used", flush=True)
dist.destroy_process_group()
