import time
from dataclasses import dataclass
from datetime import timedelta
import torch.distributed as dist

@dataclass
class Batch:
    ids: list
    temperature: float = 1.0

dist.init_process_group("gloo", timeout=timedelta(seconds=15))
print("frontend: 2 workers connected", flush=True)
for i in range(12):
    # greedy requests travel as plain dicts, the others as objects
    item = {"ids": [i, i + 1]} if i < 5 else Batch([i, i + 1], 0.8)
    dist.broadcast_object_list([item], src=0)
    out = [None] * 3
    dist.all_gather_object(out, None)
    print(f"frontend: batch {i} answered: {[o for o in out if o]}", flush=True)
    time.sleep(0.2)
dist.destroy_process_group()
