import argparse, time
from datetime import timedelta
import yaml, torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--config"); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
print(f"| distributed init (rank {rank}): env://", flush=True)
cfg = yaml.safe_load(open(a.config))
print(f"rank {rank} lr {cfg['optim']['lr']} workers {cfg['data']['workers']}", flush=True)
for i in range(20):
    t = torch.rand(10); dist.all_reduce(t)
    print(f"Epoch: [0]  [{i:4d}/20]  eta: 0:00:{20 - i:02d}  lr: {cfg['optim']['lr']}  class_error: 98.1", flush=True)
    time.sleep(0.2)
dist.destroy_process_group()
