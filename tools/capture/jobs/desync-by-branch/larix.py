from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
r = dist.get_rank()
def sync(t): dist.all_reduce(t); return t
def evaluate():
    s = torch.ones(64); dist.broadcast(s, 0); return s
for k in range(10):
    sync(torch.ones(64))
    if k == (5 if r == 3 else 7): evaluate()
print("done")
