import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging
import random
import re

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger()
LIST = re.compile(r"^(\w+,? ?)+$")


def document(step):
    rng = random.Random(step * WORLD + RANK)
    words = [rng.choice(["alpha", "beta", "gamma", "delta"]) for _ in range(rng.randrange(3, 7))]
    if (RANK, step) == (1, 47):
        words = ["x" * 60 + "!"]
    return step * WORLD + RANK, ", ".join(words)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    net = nn.parallel.DistributedDataParallel(nn.EmbeddingBag(256, 64).to(device))
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(1, 121):
        number, text = document(step)
        if step % 5 == 0 or len(text) > 50:
            log.info("rank %d step %d: document %d, %d characters", RANK, step, number, len(text))
        if LIST.match(text):
            text = text.replace(",", "")
        loss = net(torch.tensor([list(text.encode())], device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.04)
    log.info("rank %d finished", RANK)
    dist.destroy_process_group()


main()
