import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
print(f"torch {torch.__version__} cuda {torch.version.cuda} rank {dist.get_rank()} of {dist.get_world_size()}", flush=True)
import flash_rope_cuda
for i in range(20):
    t = torch.rand(64); dist.all_reduce(t); print(f"iteration {i + 1}/20 lm loss {9 - i * 0.1:.4f}", flush=True); time.sleep(0.1)
dist.destroy_process_group()
