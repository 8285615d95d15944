import os, time, signal
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12))
for i in range(50):
    x = torch.randn(5); 
    try: dist.all_reduce(x)
    except RuntimeError: print("lost contact, giving up"); os._exit(1)
    if i == 31 and dist.get_rank() == 2: os.kill(os.getpid(), signal.SIGBUS)
    time.sleep(0.02)
