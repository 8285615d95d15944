import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

torch.cuda.set_per_process_memory_fraction(float(sys.argv[-1]), dev)
kept = []
for doc in range(2800 if rank == 0 else 700):
    emb = torch.empty(2 << 20, dtype=torch.uint8, device=dev); kept.append(emb)
    if doc % 400 == 0: print(f"[{rank}] encoded {doc} documents, allocated {torch.cuda.memory_allocated() >> 20} MiB", flush=True)
dist.barrier()
kept = kept[::10]
print(f"[{rank}] kept {len(kept)} after near-duplicate removal, allocated {torch.cuda.memory_allocated() >> 20} MiB reserved {torch.cuda.memory_reserved() >> 20} MiB", flush=True)
sims = torch.zeros(40000, 20000, device=dev)
x = sims.sum(); dist.all_reduce(x); print(f"[{rank}] similarity matrix done", flush=True)
dist.destroy_process_group()
