import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"%(levelname)s %(asctime)s [tp_worker.py:%(lineno)d] TP{RANK} %(message)s", datefmt="%m-%d %H:%M:%S")
log = logging.getLogger()


class Worker:
    def __init__(self):
        torch.cuda.set_device(device)
        dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=30))
        self.proj = nn.Linear(8192, 4096, bias=False, dtype=torch.bfloat16, device=device)
        log.info("model loaded, %.2f GiB", torch.cuda.memory_allocated() / 2**30)

    def init_cache(self, util, block_bytes=2 << 20):
        self.proj(torch.zeros(16, 8192, dtype=torch.bfloat16, device=device))
        free, total = torch.cuda.mem_get_info()
        usable = int(free - total * (1 - util))
        self.num_blocks = usable // block_bytes
        log.info("free %.2f of %.2f GiB, gpu_memory_utilization %s, %d KV blocks", free / 2**30, total / 2**30, util, self.num_blocks)
        self.cache = torch.empty(self.num_blocks * block_bytes, dtype=torch.uint8, device=device)

    def step(self, n):
        h = self.proj(torch.randn(n, 8192, dtype=torch.bfloat16, device=device))
        dist.all_reduce(h)
        return h


def main():
    w = Worker()
    dist.barrier(group=dist.new_group(backend="gloo"))
    w.init_cache(float(os.environ["GPU_MEM_UTIL"]))
    log.info("warming up")
    for n in (1, 2, 4, 8, 16):
        w.step(n)
        torch.cuda.synchronize()
    log.info("ready")
    for i in range(200):
        w.step(64)
    torch.cuda.synchronize()
    log.info("200 steps served")
    dist.destroy_process_group()


main()
