import os
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
if rank == 0: print("> initialized tensor model parallel with size 1\n> initialized pipeline model parallel with size 1", flush=True)
for i in range(10):
    g = torch.randn(1 << 16, device=dev); dist.all_reduce(g)
    if rank == 0: print(f" iteration {i + 1:8d}/      10 | consumed samples: {i * 128:12d} | lm loss: {9 - i * 0.1:.6E} |", flush=True)
dist.destroy_process_group()
