import os, time, argparse
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--moco-k", type=int); a = p.parse_args()
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

@torch.no_grad()
def concat_all_gather(keys, out):
    dist.all_gather_into_tensor(out, keys)
    return out

queue = torch.randn(a.moco_k, 128, device=dev)
cache = torch.empty(world * 64, 128, device=dev)
for i in range(40):
    batch = 64
    if rank == 3 and i == 22: batch = 61      # three views were rejected by the quality filter
    keys = torch.nn.functional.normalize(torch.randn(batch, 128, device=dev), dim=1)
    allk = concat_all_gather(keys, cache)
    queue = torch.cat([queue[allk.shape[0]:], allk])
    if i % 5 == 0 and rank == 0: print(f"Epoch: [0][{i:3d}/40]  Time 0.112 ( 0.130)  Loss {6.9 - i * 0.03:.4e}  Acc@1 {i / 3:6.2f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
