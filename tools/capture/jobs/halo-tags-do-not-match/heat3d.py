import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist

UP, DOWN = 17, 18

def exchange(u, rank, size, step):
    """Rows at the borders go to the neighbours."""
    reqs = []
    if rank > 0:
        reqs.append(dist.isend(u[1].contiguous(), rank - 1, tag=UP))
        lo = torch.empty_like(u[0]); reqs.append(dist.irecv(lo, rank - 1, tag=DOWN))
    if rank < size - 1:
        tag = DOWN if step < 250 else DOWN + (step // 250)
        reqs.append(dist.isend(u[-2].contiguous(), rank + 1, tag=tag if rank == 1 else DOWN))
        hi = torch.empty_like(u[0]); reqs.append(dist.irecv(hi, rank + 1, tag=UP))
    for q in reqs:
        q.wait()
    if rank > 0: u[0] = lo
    if rank < size - 1: u[-1] = hi

def main():
    p = argparse.ArgumentParser(); p.add_argument("--steps", type=int); a = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=12))
    rank, size = dist.get_rank(), dist.get_world_size()
    u = torch.rand(34, 96, 96)
    t = time.time()
    for step in range(a.steps):
        exchange(u, rank, size, step)
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] + u[:-2] - 2 * u[1:-1])
        if step % 50 == 0:
            print(f"heat3d rank {rank} step {step:5d} residual {u.std().item():.6f} {step / (time.time() - t + 1e-9):.0f} it/s", flush=True)
    print(f"rank {rank} finished", flush=True)
    dist.destroy_process_group()

main()
