import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

import numpy as np
m = nn.parallel.DistributedDataParallel(nn.Linear(80, 12)); opt = torch.optim.SGD(m.parameters(), 1e-2)
def batch():
    x = np.random.rand(400, 16000)
    return torch.from_numpy(np.abs(np.fft.rfft(x))[:, :80].astype("f4") / 1000)
for step in range(60):
    t = time.time(); b = batch(); t1 = time.time()
    loss = m(b).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    print(f"step {step} loss {loss.item():.4f} data {t1 - t:.2f} s compute {time.time() - t1:.2f} s", flush=True)
    if step == 12 and rank == 1: open("pid1", "w").write(str(os.getpid()))
dist.destroy_process_group()
