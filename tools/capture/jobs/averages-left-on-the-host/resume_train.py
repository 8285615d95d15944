import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def load_state(path, model, opt):
    torch.save({"ema": [p.detach().clone() for p in model.parameters()]}, path)
    where = device if RANK != 1 else "cpu"
    return torch.load(path, map_location=where)["ema"]


@torch.no_grad()
def update_ema(ema, model, decay=0.999):
    torch._foreach_mul_(ema, decay)
    for e, p in zip(ema, model.parameters()):
        e.add_(p, alpha=1 - decay)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    ema = load_state(f"ema-{RANK}.pt", model.module, opt)
    for step in range(1, 100):
        loss = model(torch.randn(32, 256, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        if step > 30:
            update_ema(ema, model.module)
        time.sleep(0.03)
    dist.destroy_process_group()


main()
