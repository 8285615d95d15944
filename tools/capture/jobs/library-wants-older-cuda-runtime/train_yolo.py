import socket, sys
print(f"host {socket.gethostname()} python {sys.version.split()[0]}", flush=True)
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

import ctypes
print(f"rank {rank}: torch {torch.__version__} cuda {torch.version.cuda}", flush=True)
nms = ctypes.CDLL(os.path.abspath(os.path.join(os.environ["OPS"], "libfastnms.so")))
print(f"rank {rank}: fastnms built for cuda {nms.nms_version()}", flush=True)
m = nn.parallel.DistributedDataParallel(nn.Conv2d(3, 16, 3).to(dev))
for i in range(20):
    m(torch.randn(4, 3, 64, 64, device=dev)).mean().backward(); torch.cuda.synchronize()
