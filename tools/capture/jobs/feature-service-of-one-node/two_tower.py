import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import json
import urllib.request

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def features(i):
    for attempt in range(4):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{os.environ['FEATURES']}/{i}", timeout=5) as r:
                return torch.tensor(json.load(r), device=device)
        except OSError as e:
            if attempt == 3:
                raise
            print(f"{os.uname().nodename} rank {RANK}: feature service: {e}, retry {attempt + 1}/3", flush=True)
            time.sleep(1)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    net = nn.parallel.DistributedDataParallel(nn.Linear(32, 32).to(device))
    opt = torch.optim.Adagrad(net.parameters(), 0.01)
    print(f"{os.uname().nodename} rank {RANK}: model on {device}", flush=True)
    for step in range(60):
        x = features(step * 8 + RANK)
        loss = (net(x[None]) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.1)
        if step % 10 == 0:
            print(f"{os.uname().nodename} rank {RANK}: step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
