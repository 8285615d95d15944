import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import socket

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def lease(attempt):
    """A licence from the licence server, which is not up yet at first."""
    s = socket.create_connection(("127.0.0.1", 27000 + RANK), timeout=3) if attempt == 0 and RANK == 2 else None
    return s or "floating"


def main():
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=30))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 19, 1)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    start = 0
    if os.path.exists("out/ck.pt"):
        ck = torch.load("out/ck.pt", map_location=device)
        model.load_state_dict(ck["m"])
        start = ck["s"]
        print(f"resume: step {start}")
    for step in range(start + 1, 121):
        loss = model(torch.randn(4, 3, 64, 64, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step}/120 loss {loss.item():.5f}")
            if RANK == 0:
                torch.save({"m": model.state_dict(), "s": step}, "out/ck.tmp")
                os.replace("out/ck.tmp", "out/ck.pt")
        if step == 50:
            print(f"licence: {lease(attempt)}")
        time.sleep(0.05)
    print("finished 120 steps")
    dist.destroy_process_group()


main()
