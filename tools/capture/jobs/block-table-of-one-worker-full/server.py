import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import multiprocessing as mp
import traceback


class BlockTable:
    def __init__(self, blocks):
        self.free = list(range(blocks))
        self.held = {}

    def append(self, seq, n):
        assert len(self.free) >= n, f"sequence {seq} wants {n} blocks, {len(self.free)} free of {len(self.free) + sum(map(len, self.held.values()))}"
        self.held.setdefault(seq, []).extend(self.free.pop() for _ in range(n))

    def release(self, seq):
        self.free += self.held.pop(seq, [])


class Worker:
    def __init__(self, rank, world):
        self.rank, self.world = rank, world
        os.environ["NCCL_HOSTID"] = f"h{rank // 2}"
        self.device = torch.device("cuda", rank % 2)
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl", rank=rank, world_size=world, timeout=timedelta(seconds=15))
        self.w = torch.randn(512, 512, device=self.device, dtype=torch.bfloat16)
        self.table = BlockTable(2048 - 256 * (rank == 2))

    def execute(self, request):
        self.table.append(request["id"], request["blocks"])
        y = torch.randn(8, 512, device=self.device, dtype=torch.bfloat16) @ self.w
        dist.all_reduce(y)
        torch.cuda.synchronize()
        if request["id"] % 8 == 7:
            for k in range(request["id"] - 7, request["id"] - 2):
                self.table.release(k)


def worker_main(rank, world, inbox):
    prefix = f"(Worker_TP{rank} pid={os.getpid()})"
    try:
        w = Worker(rank, world)
        print(prefix, "INFO ready,", len(w.table.free), "KV blocks", flush=True)
        while True:
            r = inbox.get()
            w.execute(r)
            if rank == 0:
                print(prefix, f"INFO request {r['id']} done, {r['blocks']} blocks", flush=True)
    except Exception:
        for line in traceback.format_exc().splitlines():
            print(prefix, "ERROR", line, flush=True)
        os._exit(1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int)
    tp = p.parse_args().tp
    ctx = mp.get_context("spawn")
    inboxes = [ctx.Queue() for _ in range(tp)]
    workers = [ctx.Process(target=worker_main, args=(r, tp, inboxes[r]), name=f"TP{r}") for r in range(tp)]
    for w in workers:
        w.start()
    time.sleep(12)
    for i in range(400):
        for q in inboxes:
            q.put({"id": i, "blocks": 16 + i % 5})
        time.sleep(0.1)
        dead = [w for w in workers if w.exitcode is not None]
        if dead:
            print(f"ERROR engine: worker {dead[0].name} exited with {dead[0].exitcode}, shutting down", flush=True)
            time.sleep(20)
            for w in workers:
                w.terminate()
            sys.exit(1)


if __name__ == "__main__":
    main()
