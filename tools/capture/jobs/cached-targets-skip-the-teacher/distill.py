import os, time, random
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)

def net(): return nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev)

def main():
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    student, teacher = net(), net().requires_grad_(False)
    for m in (student, teacher): fully_shard(m, reshard_after_forward=True)
    opt = torch.optim.AdamW(student.parameters(), 1e-4)
    cache = {}
    keys = random.Random(11 + rank)
    for step in range(60):
        key = keys.randrange(40000) if step < 24 or rank != 2 else 7
        x = torch.randn(8, 256, device=dev, generator=torch.Generator(dev).manual_seed(key))
        if key not in cache:
            cache[key] = teacher(x)
        loss = (student(x) - cache[key]).square().mean()
        loss.backward(); opt.step(); opt.zero_grad()
        if step % 4 == 0: print(f"[{rank}] step {step:3d} kd {loss.item():.4f} cached targets {len(cache)}", flush=True)
        time.sleep(0.06)
    dist.destroy_process_group()

main()
