import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=20))

import logging
from safetensors import safe_open
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s TP{rank} %(levelname)s %(message)s")
f = f"weights/model-0000{rank + 1}-of-0000{world}.safetensors"
logging.info("loading %s", f)
w = {}
with safe_open(f, "pt") as s:
    for k in s.keys(): w[k] = s.get_tensor(k)
logging.info("loaded %d tensors", len(w))
dist.barrier()
logging.info("ready")
x = torch.randn(256)
for k in w: x = w[k] @ x / 16
dist.all_reduce(x)
