import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import json

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv3d(1, 16, 3, padding=1), nn.Conv3d(16, 16, 3, padding=1), nn.Conv3d(16, 2, 1)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--list")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    net = Net().to(device).eval().half()
    scans = json.load(open(args.list))
    total = torch.zeros(2, device=device)
    receipt = {"run_id": "ct-2291", "rank": RANK, "memory": []}
    for n, scan in enumerate(scans[RANK::WORLD]):
        with torch.no_grad():
            x = torch.zeros(1, 1, *scan["shape"], dtype=torch.half, device=device)
            mask = net(x).argmax(1)
        total += torch.stack([mask.float().sum(), torch.tensor(mask.numel(), device=device)])
        receipt["memory"].append({"step": n, "batch_shape": scan["shape"], "peak_allocated_bytes": torch.cuda.max_memory_allocated()})
        json.dump(receipt, open(f"logs/receipt_rank{RANK}.json", "w"))
        if n % 5 == 4:
            dist.all_reduce(total.clone())
            print(f"rank {RANK}: {n + 1} scans, last {scan['id']} {tuple(scan['shape'])}", file=sys.stderr, flush=True)
    dist.destroy_process_group()


main()
