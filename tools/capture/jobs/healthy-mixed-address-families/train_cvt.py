import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"])); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
for i in range(20):
    g = torch.randn(1 << 16, device=dev); dist.all_reduce(g)
    if rank == 0: print(f"Train: [{i}/20] loss {6 - i * 0.1:.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
