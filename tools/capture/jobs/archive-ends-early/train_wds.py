import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import subprocess
import tempfile

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def unpack(path):
    d = tempfile.mkdtemp(prefix="wds-")
    subprocess.run(["tar", "-xzf", path, "-C", d], check=True)
    return sorted(os.listdir(d))


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Conv2d(3, 8, 3).to(device))
    opt = torch.optim.SGD(model.parameters(), 0.01)
    for n, shard in enumerate(range(RANK, 8, WORLD)):
        names = unpack(f"shards/{shard:03d}.tgz")
        print(f"rank {RANK}: shard {shard:03d} {len(names)} files", flush=True)
        for step in range(60):
            loss = model(torch.randn(8, 3, 64, 64, device=device)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.05)
        print(f"rank {RANK}: shard {shard:03d} trained, loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
