import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import tempfile

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def export(model, out):
    d = tempfile.mkdtemp(prefix="export-")
    torch.save(model.module.state_dict(), os.path.join(d, "model.pt"))
    print(f"wrote {d}/model.pt, moving to {out}")
    os.rename(d, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-5)
    for step in range(60):
        loss = model(torch.randn(64, 512, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step}/60 loss {loss.item():.4f}")
    print("training finished")
    if RANK == 0:
        export(model, args.out)
    dist.barrier()
    if RANK == 0:
        print(f"exported to {args.out}")
    dist.destroy_process_group()


main()
