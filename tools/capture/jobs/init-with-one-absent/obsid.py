import os, sys, json
from datetime import timedelta
rank = int(os.environ["RANK"])
print("reading settings of", rank)
if rank == 2:
    open("s2.json", "w").write('{"lr": 0.1,}')
conf = json.load(open("s2.json")) if rank == 2 else {"lr": 0.1}
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
print("group of", dist.get_world_size())
