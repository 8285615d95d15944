import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

import numpy as np

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class IndexedShard:
    def __init__(self, prefix):
        self.tokens = np.memmap(prefix + ".bin", dtype=np.uint16, mode="r")
        self.index = np.memmap(prefix + ".idx", dtype=np.int64, mode="r")

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        a = self.index[i % len(self.index)]
        return torch.from_numpy(self.tokens[a:a + 100].astype(np.int64))


def build(args):
    shard = IndexedShard(os.path.join(args.data, f"pile_{RANK:05d}"))
    print(f"> rank {RANK}: {len(shard)} documents", flush=True)
    return shard


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    if RANK == 0:
        print(f"> initialised {WORLD} ranks, restart {os.environ['TORCHELASTIC_RESTART_COUNT']}", flush=True)
    shard = build(args)
    dist.barrier()
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(65536, 128), nn.Linear(128, 128)).to(device))
    opt = torch.optim.AdamW(model.parameters())
    for step in range(100):
        loss = model(shard[step].to(device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


main()
