import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

model = nn.parallel.DistributedDataParallel(nn.Linear(1024, 1024).to(dev))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for step in range(1, 101):
    loss = model(torch.randn(32, 1024, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0:
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}; writing ckpt/step{step}.pt", flush=True)
            torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, f"ckpt/step{step}.pt")
        dist.barrier()
dist.destroy_process_group()
