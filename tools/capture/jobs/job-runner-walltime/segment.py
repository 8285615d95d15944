import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=30))
for i in range(2000):
    t = torch.rand(1 << 16, device=dev); dist.all_reduce(t)
    if rank == 0 and i % 10 == 0: print(f"Iter(train) [{i}/80000]  lr: 5.9e-05  eta: 11:42:{i % 60:02d}  time: 0.21  data_time: 0.01  loss: {2.1 - i * 0.001:.4f}", flush=True)
    time.sleep(0.2)
dist.destroy_process_group()
