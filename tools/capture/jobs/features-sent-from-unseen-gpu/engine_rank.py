import os, time, torch, torch.distributed as dist
from datetime import timedelta
rank = int(os.environ["RANK"]); n = torch.cuda.device_count()
dev = torch.device("cuda", min(rank, n - 1))
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
print(f"rank {rank}: {n} visible devices, using {dev}", flush=True)
def encode(image): return torch.randn(256, 64, device=dev)
for req in range(20):
    holder = [{"request": req, "features": encode(req) if req >= 4 else None}] if rank == 1 else [None]
    dist.broadcast_object_list(holder, src=1)
    print(f"rank {rank}: request {req} {'with' if holder[0]['features'] is not None else 'without'} image", flush=True)
    time.sleep(0.1)
