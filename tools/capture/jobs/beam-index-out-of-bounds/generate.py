import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--beam", type=int); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
table = torch.randn(8192, 64, device=dev)
for i in range(30):
    scores = torch.randn(16, a.beam, 1000, device=dev).flatten(1)
    top, idx = scores.topk(a.beam, -1)
    beams = idx // 1000
    if rank == 3 and i == 14: beams = beams + (beams == beams.max())
    cache = torch.randn(16, a.beam, 64, device=dev)
    cache = cache.gather(1, beams[..., None].expand(-1, -1, 64))
    s = (cache.mean() + table.mean()); dist.all_reduce(s)
    if rank == 0 and i % 3 == 0: print(f"| generate-test batch {i} | {i * 16} sentences | score {s.item():.4f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
