import argparse, os, random, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--gpu-memory-share", type=float); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
torch.cuda.set_per_process_memory_fraction(a.gpu_memory_share, dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
model = nn.Sequential(nn.Embedding(32000, 512), nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.Linear(512, 32000)).to(dev)
model = nn.parallel.DistributedDataParallel(model)
opt = torch.optim.AdamW(model.parameters(), 1e-5)
lengths = [2048, 1900, 2048, 1500, 2048, 1800, 1024, 2048]
for step in range(24):
    n = lengths[(step + rank) % 8] if (rank, step) != (1, 13) else 30720
    t = torch.randint(0, 32000, (1, n), device=dev)
    loss = torch.nn.functional.cross_entropy(model(t)[0].float(), t[0])
    loss.backward(); opt.step(); opt.zero_grad()
    if step % 4 == 0: print(f"{{'loss': {loss.item():.4f}, 'tokens': {n}, 'step': {step}, 'max_mem_GB': {torch.cuda.max_memory_allocated() / 1e9:.2f}}}", flush=True)
dist.destroy_process_group()
