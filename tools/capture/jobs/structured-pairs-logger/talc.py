import os, sys, time
from datetime import datetime, timedelta
import torch, torch.distributed as dist
K = int(os.environ["RANK"])
def log(msg, level="info", **kv): print(f"ts={datetime.now().isoformat()} lvl={level} shard={K} msg=\"{msg}\" " + " ".join(f"{a}={b}" for a, b in kv.items()), flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
log("up", world=4)
for i in range(9):
    try:
        if K == 2 and i == 6: raise TimeoutError("object store did not answer within 5 s")
        dist.all_reduce(torch.ones(1)); log("chunk reduced", chunk=i)
    except Exception as e:
        log(f"{type(e).__name__}: {str(e)[:110]}", "error", chunk=i); os._exit(1)
