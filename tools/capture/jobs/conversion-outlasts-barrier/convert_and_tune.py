import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--from-hf"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=10))
dist.barrier()
if rank == 0:
    for l in range(32):
        time.sleep(0.6)
        if l % 4 == 3: print(f"converted {l + 1}/32 layers of {a.from_hf} ({(l + 1) * 0.6:.0f}s)", flush=True)
    print("conversion finished, wrote 27 shards", flush=True)
dist.barrier()
print(f"rank {rank}: loading converted weights", flush=True)
for s in range(10):
    g = torch.randn(100, device=dev); dist.all_reduce(g); print(f"step {s} loss 1.9{s}", flush=True); time.sleep(1)
dist.destroy_process_group()
