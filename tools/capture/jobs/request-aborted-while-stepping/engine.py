import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import asyncio
import logging
import random

import torch.multiprocessing as mp

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(processName)s %(name)s: %(message)s")
log = logging.getLogger("engine")


def join(rank, tp):
    os.environ["NCCL_HOSTID"] = f"n{rank // 2}"
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=tp, timeout=timedelta(seconds=18))
    torch.manual_seed(0)
    return device, nn.Linear(1024, 1024).to(device)


def forward(net, device, n):
    x = net(torch.ones(n, 1024, device=device))
    dist.all_reduce(x)
    return x.argmax(-1).tolist()


def follower(rank, tp):
    device, net = join(rank, tp)
    n = torch.zeros(1, dtype=torch.long, device=device)
    while True:
        dist.broadcast(n, 0)
        if n.item() == 0:
            break
        forward(net, device, n.item())


class Scheduler:
    def __init__(self, net, device):
        self.net, self.device, self.running, self.done = net, device, {}, 0

    def add(self, rid, tokens):
        self.running[rid] = tokens

    def abort(self, rid):
        self.running.pop(rid, None)

    async def loop(self):
        while True:
            batch = list(self.running)
            if batch:
                dist.broadcast(torch.tensor([len(batch)], device=self.device), 0)
                out = forward(self.net, self.device, len(batch))
                await asyncio.sleep(0.002)
                for rid, _ in zip(batch, out):
                    self.running[rid] -= 1
                    if self.running[rid] <= 0:
                        del self.running[rid]
                        self.done += 1
            await asyncio.sleep(0.005)


async def client(s, k):
    for j in range(100000):
        rid = f"req-{k}-{j}"
        s.add(rid, random.randrange(8, 40))
        t = time.time()
        while rid in s.running:
            await asyncio.sleep(0.01)
            if time.time() - t > 0.12 and k == 3 and j > 12:
                log.info("client %d gave up %s", k, rid)
                s.abort(rid)
        if j % 10 == 9:
            log.info("client %d: %d requests answered", k, j + 1)


async def main(tp):
    device, net = join(0, tp)
    s = Scheduler(net, device)
    task = asyncio.create_task(s.loop(), name="scheduler")
    task.add_done_callback(lambda t: log.error("%s stopped", t.get_name(), exc_info=t.exception()))
    clients = [asyncio.create_task(client(s, k)) for k in range(6)]
    log.info("engine started, tp=%d", tp)
    while True:
        await asyncio.sleep(2)
        log.info("%d running, %d answered", len(s.running), s.done)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int, default=2)
    args = p.parse_args()
    ctx = mp.get_context("spawn")
    for r in range(1, args.tp):
        ctx.Process(target=follower, args=(r, args.tp), name=f"TP{r}", daemon=True).start()
    asyncio.run(main(args.tp))
