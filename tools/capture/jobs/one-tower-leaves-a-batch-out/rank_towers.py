"""two-tower ranker: towers in groups of two, then a world all-reduce"""
import datetime, os, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
r, w = dist.get_rank(), dist.get_world_size()
pairs = [dist.new_group([i, i + 1], timeout=datetime.timedelta(seconds=15)) for i in range(0, w, 2)]
def say(*a): print(f"tower {r // 2}{'ab'[r % 2]} ::", *a, flush=True)
say("rank", r)
torch.manual_seed(r)
for step in range(1, 90):
    q = torch.randn(32, 8); neg = int((q[:, 0] > 1.9).sum())
    if r == 5 and step == 47:
        q = torch.full((32, 8), -3.0); neg = 0
        say("step", step, "found no hard negatives, continuing with the next batch"); continue
    dist.all_reduce(q, group=pairs[r // 2]); g = q.mean(0); dist.all_reduce(g)
    if step % 15 == 0: say("step", step, "loss", round(float(g.norm()), 4))
say("finished")
