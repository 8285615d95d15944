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

logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {socket.gethostname()} rank={RANK} %(levelname)s %(message)s")
log = logging.getLogger()
BLOCK = 512


class Packer:
    def __init__(self, rank):
        self.g = torch.Generator().manual_seed(100 + rank)
        self.rest = []

    def document(self, n):
        if (RANK, n) == (6, 137):
            return None
        length = int(torch.randint(40, 400, (1,), generator=self.g))
        return torch.randint(1, 1000, (length,), generator=self.g).tolist()

    def blocks(self):
        n = 0
        while True:
            buf, cu = [], [0]
            while len(buf) < BLOCK:
                doc = self.rest or self.document(n)
                n += 0 if self.rest else 1
                room = BLOCK - len(buf)
                buf, self.rest = buf + doc[:room], doc[room:]
                cu.append(len(buf))
            yield torch.tensor(buf), torch.tensor(cu)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(1000, 128), nn.Linear(128, 128)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 3e-4)
    for step, (ids, cu) in enumerate(Packer(RANK).blocks()):
        loss = model(ids.to(device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            log.info("step %d loss %.4f segments %d", step, loss.item(), len(cu) - 1)
        if step == 200:
            break
        time.sleep(0.05)
    dist.destroy_process_group()


main()
