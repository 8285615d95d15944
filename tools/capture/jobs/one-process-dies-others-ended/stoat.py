import multiprocessing as mp, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
def body(rank, world):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{os.environ['PORT']}", rank=rank, world_size=world, timeout=timedelta(seconds=60)); sys.excepthook = sys.__excepthook__
    print(f"rank {rank} up", flush=True)
    for i in range(8):
        x = torch.ones(2) * i
        if rank == 1 and i == 5: x = torch.stack([x, torch.ones(3)])
        dist.barrier(); time.sleep(0.2)
if __name__ == "__main__":
    ps = [mp.Process(target=body, args=(r, 4)) for r in range(4)]
    [p.start() for p in ps]
    while all(p.exitcode is None for p in ps): time.sleep(0.05)
    for i, p in enumerate(ps):
        if p.exitcode is None: print("terminating", p.name); p.terminate()
    sys.exit(1)
