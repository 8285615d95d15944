import json, os, sys, time, traceback
from datetime import timedelta, datetime
import torch, torch.distributed as dist
RANK = int(os.environ["RANK"])
def log(level, msg, **kw):
    print(json.dumps({"ts": datetime.utcnow().isoformat() + "Z", "level": level, "rank": RANK, "msg": msg, **kw}), flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
log("info", "process group ready", world_size=dist.get_world_size())
prices = [[3.1, 2.9, 3.0, 3.3], [2.2, 0.0, 2.4, 2.1]][RANK]
try:
    acc = torch.zeros(1)
    for i, p in enumerate(prices):
        inv = 1 / p
        t = torch.tensor([inv]); dist.all_reduce(t)
        log("info", "batch", i=i, mean=round(t.item() / 2, 4))
    log("info", "done")
except Exception as e:
    log("error", f"training failed: {e}", exc=traceback.format_exc())
    sys.exit(1)
