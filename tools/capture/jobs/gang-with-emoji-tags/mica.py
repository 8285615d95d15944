import os, sys
from datetime import datetime, timedelta
import torch, torch.distributed as dist
R = int(os.environ["RANK"])
def say(msg): print(f"{datetime.now():%d/%m %H:%M:%S} »R{R}« {msg}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=8))
say("ready")
try:
    for k in range(10):
        x = torch.arange(12.)
        if R == 1 and k == 6: x = x[:9]
        y = x.reshape(3, 4).sum(0)
        dist.all_reduce(y); say(f"round {k}: {y[0]:.0f}")
except Exception as e:
    say(f"exception: {type(e).__name__}: {e}"); os._exit(1)
