import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

dtype = getattr(torch, os.environ.get("ENCODER_DTYPE", "float32"))
print(f"rank {rank}: encoder in {dtype}", flush=True)
q, d = nn.Linear(128, 64).to(dev, dtype), nn.Linear(128, 64).to(dev, dtype)
bank = torch.empty(world * 32, 64, device=dev)
for step in range(30):
    x = torch.randn(32, 128, device=dev, dtype=dtype)
    with torch.no_grad(): dist.all_gather_into_tensor(bank, d(x).contiguous())
    loss = nn.functional.cross_entropy(q(x).float() @ bank.T.float(), torch.arange(32, device=dev) + 32 * rank)
    loss.backward()
    if step % 5 == 0: print(f"step {step} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
