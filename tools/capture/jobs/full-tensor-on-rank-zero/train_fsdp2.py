import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))

from torch.distributed.fsdp import fully_shard
model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(4)]).to(dev)
for b in model: fully_shard(b)
fully_shard(model)
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for step in range(1, 50):
    loss = model(torch.randn(16, 512, device=dev)).square().mean(); opt.zero_grad(); loss.backward()
    if rank == 0 and step % 15 == 0:
        w = model[0][0].weight.grad.full_tensor()
        print(f"step {step}: grad histogram {torch.histc(w.float(), 5).tolist()}", flush=True)
    opt.step()
    if rank == 0 and step % 5 == 0: print(f"step {step}: loss {loss.item():.5f}", flush=True)
dist.destroy_process_group()
