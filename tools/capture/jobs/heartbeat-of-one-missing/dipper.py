import os, sys, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
r = int(os.environ["RANK"])
dist.init_process_group("gloo", timeout=timedelta(seconds=40))
store = dist.distributed_c10d._get_default_store()
beat = [0]
def watch():
    seen = {k: (0, time.time()) for k in range(4)}
    while True:
        time.sleep(1)
        for k in range(4):
            n = store.add(f"beat{k}", 0)
            if n != seen[k][0]: seen[k] = (n, time.time())
            elif time.time() - seen[k][1] > 6:
                print(f"coordinator: no heartbeat from rank {k} since {time.time() - seen[k][1]:.0f} s, stopping the job", flush=True)
                os._exit(1)
if r == 0: threading.Thread(target=watch, daemon=True).start()
for step in range(30):
    if r == 3 and step == 10: time.sleep(30)
    dist.all_reduce(torch.ones(1)) if step != 10 else None
    store.add(f"beat{r}", 1)
    if step == 10:
        for _ in range(20): time.sleep(1); store.add(f"beat{r}", 1)
    time.sleep(0.05)
