import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import asyncio
import json
import logging
import signal

import torch.multiprocessing as mp

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("rerank")


def scorer(rank, pipe):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    w = torch.randn(64, device=device)
    dist.broadcast(w, 0)
    pipe.send("ready")
    while (x := pipe.recv()) is not None:
        pipe.send((torch.tensor(x, device=device)[:, None] * w).sum(-1).tolist())
    dist.destroy_process_group()
    log.info("scorer %d stopped", rank)


class Server:
    def __init__(self, pipes):
        self.pipes, self.locks, self.n = pipes, [asyncio.Lock() for _ in pipes], 0

    async def handle(self, reader, writer):
        line = await reader.readline()
        docs = json.loads(line)
        self.n += 1
        k = self.n % 2
        async with self.locks[k]:
            self.pipes[k].send(docs)
            scores = await asyncio.to_thread(self.pipes[k].recv)
        await asyncio.sleep(0.02)
        for s in scores:
            writer.write(f"{s:.4f}\n".encode() * 400)
            await writer.drain()
        writer.close()
        if self.n % 100 == 0:
            log.info("%d requests", self.n)


async def main(port):
    ctx = mp.get_context("spawn")
    pipes, procs = [], []
    for r in range(2):
        a, b = ctx.Pipe()
        procs.append(ctx.Process(target=scorer, args=(r, b)))
        procs[-1].start()
        pipes.append(a)
    for p in pipes:
        await asyncio.to_thread(p.recv)
    server = Server(pipes)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    s = await asyncio.start_server(server.handle, "127.0.0.1", port)
    log.info("serving on %d", port)
    await stop.wait()
    log.info("SIGTERM, no new requests")
    s.close()
    await asyncio.sleep(1)
    for p in pipes:
        p.send(None)
    for p in procs:
        p.join()
    log.info("served %d requests, bye", server.n)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
