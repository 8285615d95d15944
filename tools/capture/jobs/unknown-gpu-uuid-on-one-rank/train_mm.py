import os, time
from datetime import timedelta
import torch, torch.distributed as dist
print(f"rank {os.environ['RANK']} CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']}", flush=True)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
for i in range(10):
    g = torch.randn(100, device="cuda"); dist.all_reduce(g); print("step", i, flush=True)
dist.destroy_process_group()
