import os, shutil, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
SCRATCH = "nvme" if rank == 3 else f"/tmp/scratch-{os.getpid()}"
os.makedirs(SCRATCH, exist_ok=True)

def cache_embeddings(n=3_000_000):
    free = shutil.disk_usage(SCRATCH).free / 2**20
    print(f"rank {rank}: writing embeddings to {SCRATCH} ({free:.0f} MiB free)", flush=True)
    for k in range(4):
        emb = np.random.rand(n // 4).astype(np.float32)
        emb.tofile(f"{SCRATCH}/emb_{k}.f32")
        print(f"rank {rank}: block {k} {emb.nbytes / 2**20:.1f} MiB", flush=True)

def main():
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=20))
    cache_embeddings()
    dist.barrier()
    for step in range(20):
        t = torch.rand(64, device=dev); dist.all_reduce(t)
        if rank == 0: print(f"step {step} mrr {0.2 + step / 100:.3f}", flush=True)
    dist.destroy_process_group()

main()
