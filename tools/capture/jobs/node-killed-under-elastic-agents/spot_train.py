import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=15))
rank, world = dist.get_rank(), dist.get_world_size()
start = 0
if os.path.exists("ck.pt"): start = torch.load("ck.pt")["step"]
print(f"rank {rank} of {world}, from step {start}, restarts {os.environ.get('TORCHELASTIC_RESTART_COUNT')}", flush=True)
for s in range(start, 40):
    g = torch.randn(1000); dist.all_reduce(g)
    if rank == 0:
        print(f"step {s} loss {5 - s * 0.05:.3f} world {world}", flush=True)
        if s % 5 == 4: torch.save({"step": s + 1}, "ck.pt"); print(f"checkpoint at step {s + 1}", flush=True)
    time.sleep(0.3)
dist.barrier()
if rank == 0: print("training complete: 40 steps", flush=True)
dist.destroy_process_group()
