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


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.Sequential(nn.Linear(60, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 5e-4)
    for it in range(1, 3001):
        rgb = model(torch.randn(4096, 60, device=device))
        loss = rgb.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.04)
        if it % 50 == 0 and LOCAL == 0:
            print(f"[TRAIN] Iter: {it} Loss: {loss.item():.6f} PSNR: {-10 * loss.log10().item():.3f}", flush=True)
    dist.destroy_process_group()


main()
