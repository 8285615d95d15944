import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import logging
import threading

import torch.multiprocessing as mp

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(asctime)s [%(processName)s] %(message)s", datefmt="%m-%d %H:%M:%S")
log = logging.getLogger("tinyllm")


class Layer(nn.Module):
    def __init__(self, d, tp):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d // tp, bias=False), nn.Linear(4 * d // tp, d, bias=False)

    def forward(self, x):
        y = self.down(nn.functional.gelu(self.up(x)))
        dist.all_reduce(y)
        return x + y


def statistics(device, stop):
    torch.cuda.set_device(device)
    while not stop.wait(0.02):
        t = time.perf_counter()
        torch.cuda.synchronize()
        statistics.last = time.perf_counter() - t


def worker(rank, args):
    mp.current_process().name = f"Worker_TP{rank}"
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=args.tp, timeout=timedelta(seconds=18))
    torch.manual_seed(rank)
    model = nn.Sequential(*[Layer(1024, args.tp) for _ in range(8)]).to(device).half().eval()
    with torch.no_grad():
        model(torch.randn(1, 1024, device=device).half())
    torch.cuda.synchronize()
    log.info("model loaded, %.2f GiB", torch.cuda.memory_allocated() / 2**30)
    stop = threading.Event()
    if rank == args.stats_worker:
        threading.Thread(target=statistics, args=(device, stop), name="stats", daemon=True).start()
        log.info("statistics of this worker are collected every 20 ms")
    graphs = {}
    log.info("capturing CUDA graphs")
    with torch.no_grad():
        for size in [1, 2, 4, *range(8, 257, 8)]:
            x = torch.zeros(size, 1024, device=device).half()
            model(x)
            torch.cuda.current_stream().synchronize()
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)
            graphs[size] = g, x, y
            dist.all_reduce(torch.ones(1, device=device))
            if size % 32 == 0:
                log.info("captured up to batch size %d", size)
    log.info("captured %d graphs, ready", len(graphs))
    for n in range(200):
        g, x, y = graphs[8]
        g.replay()
    torch.cuda.synchronize()
    stop.set()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int)
    p.add_argument("--stats-worker", type=int)
    mp.spawn(worker, (p.parse_args(),), 2)
