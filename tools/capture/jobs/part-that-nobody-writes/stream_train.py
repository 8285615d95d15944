import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import faulthandler
import json
import pathlib
import signal

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

faulthandler.register(signal.SIGUSR2, all_threads=False)


def lines(k):
    with open(f"stream/part-{RANK}{k}.jsonl") as f:
        for line in f:
            yield json.loads(line)["ids"]


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    net = nn.parallel.DistributedDataParallel(nn.EmbeddingBag(1000, 64).to(device))
    opt = torch.optim.SGD(net.parameters(), 0.1)
    step = 0
    for k in range(4):
        group = []
        for ids in lines(k):
            group.append(ids)
            if len(group) == 16:
                loss = net(torch.tensor(group, device=device)).square().mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                torch.cuda.synchronize()
                group, step = [], step + 1
                pathlib.Path(os.environ["BEAT"]).touch()
                time.sleep(0.03)
                if step % 10 == 0:
                    print(f"{time.strftime('%H:%M:%S')} step {step} part {k} loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


main()
