import argparse, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--chains", type=int); a = p.parse_args()
np.seterr(over="raise", invalid="raise")
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank(); rng = np.random.default_rng(rank)
theta = rng.normal(size=32)
def energy(t): return np.exp(t * t).sum()
for it in range(50):
    step = 0.1 if rank else 0.1 * 1.12 ** it
    prop = theta + rng.normal(size=32) * step * (9 if rank == 0 else 1)
    e = energy(prop)
    t = torch.tensor([min(e, 1e6)]); dist.all_reduce(t)
    if it % 5 == 0: print(f"chain {rank} it {it} accept 0.6{it % 10} step {step:.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
