import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import logging
import multiprocessing as mp
import random


def worker(rank, world, inbox, outbox):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(levelname)s [embed-{rank}] %(message)s")
    log = logging.getLogger()
    os.environ["NCCL_HOSTID"] = f"h{rank // 2}"
    torch.cuda.set_device(rank % 2)
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=rank, world_size=world)
    model = nn.EmbeddingBag(5000, 64).cuda()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    rng = random.Random(rank)
    while (item := inbox.get()) is not None:
        for attempt in range(1, 4):
            try:
                if rng.random() < 0.06:
                    raise TimeoutError(f"document store did not answer for {item} within 0.2 s")
                v = model(torch.randint(0, 5000, (1, 60), device="cuda")).norm().item()
                outbox.put((item, v))
                break
            except TimeoutError as e:
                log.warning("attempt %d/3: %s", attempt, e)
                time.sleep(0.1)
        else:
            log.error("giving up on %s", item)
            outbox.put((item, None))
    log.info("queue is empty, draining")
    dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int)
    n = p.parse_args().workers
    ctx = mp.get_context("spawn")
    inbox, outbox = ctx.Queue(), ctx.Queue()
    ws = [ctx.Process(target=worker, args=(r, n, inbox, outbox)) for r in range(n)]
    for w in ws:
        w.start()
    for i in range(400):
        inbox.put(f"doc-{i:05d}")
    for _ in ws:
        inbox.put(None)
    got = [outbox.get(timeout=60) for _ in range(400)]
    for w in ws:
        w.join()
    print(f"embedded {sum(v is not None for _, v in got)} of {len(got)} documents, exit codes {[w.exitcode for w in ws]}")


if __name__ == "__main__":
    main()
