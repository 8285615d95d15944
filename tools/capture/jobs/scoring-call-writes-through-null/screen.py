import ctypes, os, time
import torch, torch.distributed as dist, torch.multiprocessing as mp
def score(pose, rank):
    if rank == 3 and pose == 31: ctypes.memset(8, 0, 64)
    return torch.rand(16)
def work(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    for pose in range(120):
        s = score(pose, rank)
        dist.all_reduce(s, op=dist.ReduceOp.MAX)
        if rank == 0 and pose % 10 == 0: print(f"pose {pose}: best {s.max():.4f}", flush=True)
        time.sleep(0.05)
    dist.destroy_process_group()
if __name__ == "__main__": mp.spawn(work, (4,), nprocs=4)
