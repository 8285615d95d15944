import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging
import socket

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {socket.gethostname()}:{LOCAL} rank {RANK} | %(message)s")
log = logging.getLogger()


def fetch_weights(path):
    """The first process of a node fetches, the others wait for it."""
    if RANK != 0:
        log.info("waiting for weights")
        dist.barrier()
    if LOCAL == 0:
        log.info("fetching %s", path)
        time.sleep(1.5)
        torch.save({"w": torch.randn(64, 64)}, f"{path}.{socket.gethostname()}")
        dist.barrier()
    log.info("weights are here")
    return torch.load(f"{path}.{socket.gethostname()}") if LOCAL == 0 else {}


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    state = fetch_weights("/tmp/mae_base")
    log.info("loaded %d tensors", len(state))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1.5e-4)
    for step in range(400):
        loss = model(torch.randn(64, 768, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            log.info("step %d loss %.4f", step, loss.item())
    dist.destroy_process_group()


main()
