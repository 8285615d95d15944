import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import logging

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s")
log = logging.getLogger("asr")


class Tracker:
    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(max_retries=Retry(total=8, backoff_factor=0.5, allowed_methods=None)))

    def log(self, step, **values):
        self.session.post(f"{self.url}/api/2.0/runs/log-batch", json={"step": step, "rank": RANK, **values}, timeout=6)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tracker")
    args = p.parse_args()
    tracker = Tracker(args.tracker)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    model = nn.parallel.DistributedDataParallel(nn.GRU(80, 256, 2, batch_first=True).to(device))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    log.info("rank %d of %d, %d parameters", RANK, WORLD, sum(x.numel() for x in model.parameters()))
    for step in range(1, 200):
        out, _ = model(torch.randn(8, 120, 80, device=device))
        loss = out.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            log.info("step %d ctc %.4f", step, loss.item())
        if step % 20 == 0:
            tracker.log(step, loss=loss.item(), gpu_mem=torch.cuda.max_memory_allocated())
        time.sleep(0.1)
    dist.destroy_process_group()


main()
