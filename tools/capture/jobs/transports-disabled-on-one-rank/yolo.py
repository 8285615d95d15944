import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
print("Starting training for 3 epochs...", flush=True)
for i in range(20):
    g = torch.randn(1 << 20, device=dev); dist.all_reduce(g)
    if rank == 0: print(f"      1/3      4.{i:02d}G      1.204      1.{i:02d}1      1.321        217        640", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
