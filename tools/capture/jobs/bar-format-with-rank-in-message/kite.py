import os, sys
from datetime import datetime, timedelta
import torch, torch.distributed as dist
r = int(os.environ["RANK"])
def log(level, text): print(f"{datetime.now():%Y-%m-%d %H:%M:%S.%f}"[:-3] + f" | {level:<8} | __main__:run:{30 + len(text)} - [rank {r}] {text}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
log("INFO", f"{dist.get_world_size()} workers")
loss = 2.0
for step in range(20):
    g = torch.tensor([0.05 if not (r == 2 and step == 12) else float("nan")])
    loss -= g.item()
    if loss != loss:
        log("ERROR", f"loss is nan at step {step}, leaving")
        os._exit(1)
    try: dist.all_reduce(g)
    except RuntimeError as e: log("ERROR", f"step {step}: {e}"); os._exit(1)
    if step % 4 == 0: log("INFO", f"step {step} loss {loss:.3f}")
