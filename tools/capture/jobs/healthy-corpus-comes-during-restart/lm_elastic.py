import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.elastic.multiprocessing.errors import record

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


@record
def main():
    print(f"attempt {os.environ['TORCHELASTIC_RESTART_COUNT']} of {os.environ['TORCHELASTIC_MAX_RESTARTS']}", flush=True)
    if RANK == 1:
        time.sleep(2)
    tokens = torch.load("/mnt/corpus/tokens.pt")[RANK]
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=60))
    net = nn.Sequential(nn.Embedding(512, 128), nn.Linear(128, 512)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(1, 101):
        x = tokens[step * 65:step * 65 + 65].to(device)
        loss = nn.functional.cross_entropy(model(x[:-1]), x[1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            print(f"step {step}/100 loss {loss.item():.4f}", flush=True)
    dist.barrier(device_ids=[device.index])
    print("training complete", flush=True)
    dist.destroy_process_group()


main()
