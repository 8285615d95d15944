import os, time
from datetime import timedelta
from multiprocessing import shared_memory
import numpy as np, torch, torch.distributed as dist
rank = int(os.environ["RANK"])

def feature_block(mib):
    """Numeric features in memory that the workers of this node share."""
    v = os.statvfs("/dev/shm")
    print(f"rank {rank}: feature block of {mib} MiB, /dev/shm has {v.f_bavail * v.f_frsize / 2**20:.0f} of {v.f_blocks * v.f_frsize / 2**20:.0f} MiB left", flush=True)
    shm = shared_memory.SharedMemory(create=True, size=mib << 20)
    a = np.ndarray((mib << 18,), np.float32, buffer=shm.buf)
    a[:] = np.float32(rank + 1)
    return shm, a

def main():
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    shm, block = feature_block(16 if rank == 0 else 96)
    print(f"rank {rank}: block filled, mean {block.mean():.2f}", flush=True)
    for step in range(30):
        t = torch.from_numpy(block[step * 64 : step * 64 + 64]).clone(); dist.all_reduce(t)
        if rank == 0: print(f"step {step} auc {0.71 + step / 1000:.4f}", flush=True)
        time.sleep(0.1)
    shm.close(); shm.unlink()
    dist.destroy_process_group()

main()
