import argparse, multiprocessing as mp, time
from datetime import timedelta
import torch, torch.distributed as dist
def actor(q, k):
    for i in range(50): q.put((k, i)); time.sleep(0.05)
def main():
    p = argparse.ArgumentParser(); p.add_argument("--actors", type=int); a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=20)); rank = dist.get_rank()
    for u in range(10):
        t = torch.rand(8); dist.all_reduce(t)
        if rank == 0: print(f"warm-up {u} return {t.sum().item():.2f}", flush=True)
    if rank == 0:
        q = mp.get_context("fork").Queue(maxsize=64)
        ps = [mp.get_context("fork").Process(target=actor, args=(q, k), daemon=True) for k in range(a.actors)]
        for x in ps: x.start()
    for u in range(40):
        if rank == 0: q.get(timeout=10)
        t = torch.rand(8); dist.all_reduce(t); print(f"update {u}", flush=True)
    dist.destroy_process_group()
if __name__ == "__main__": main()
