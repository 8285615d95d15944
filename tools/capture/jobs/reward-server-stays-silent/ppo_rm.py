import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

import requests

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(name)s] %(levelname)s - %(message)s")
log = logging.getLogger(f"ppo.{RANK}")
logging.getLogger("urllib3").setLevel(logging.DEBUG)


def score(texts):
    return torch.tensor(requests.post(os.environ["REWARD_URL"], json={"rank": RANK, "n": len(texts)}).json(), device=device)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    actor = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 1)).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(actor.parameters(), 1e-5)
    for it in range(1, 60):
        reward = score(["..."] * 16)
        loss = -(actor(torch.randn(16, 512, device=device)).squeeze(-1) * reward).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.info("iteration %d reward %.3f policy loss %.5f", it, reward.mean().item(), loss.item())
        time.sleep(0.2)
    dist.destroy_process_group()


main()
