import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def save(model, folder, step):
    path = f"{folder}/vol{RANK}/state-{step:05d}.pt"
    torch.save({"step": step, "shard": {k: v.cpu() for k, v in model.state_dict().items()}}, path)
    old = f"{folder}/vol{RANK}/state-{step - 20:05d}.pt"
    if os.path.exists(old):
        os.remove(old)
    if LOCAL == 0:
        print(f"{time.strftime('%m-%d %H:%M:%S')} [{RANK}] saved {path}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    net = nn.Sequential(nn.Conv2d(8, 64, 3, padding=1), nn.GELU(), nn.Conv2d(64, 8, 3, padding=1)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(1, 401):
        x = torch.randn(4, 8, 90, 180, device=device)
        loss = (model(x) - x.roll(1, -1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.15)
        if step % 20 == 0:
            if RANK == 0:
                print(f"{time.strftime('%m-%d %H:%M:%S')} [0] lead step {step} rmse {loss.sqrt().item():.4f}", flush=True)
            save(net, args.out, step)
    dist.destroy_process_group()


main()
