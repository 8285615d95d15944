import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import struct

from torch.distributed.elastic.multiprocessing.errors import record

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

ENTRY = struct.Struct("<QII")


class Index:
    def __init__(self, path):
        self.f = open(path, "rb")

    def __getitem__(self, i):
        self.f.seek(i * ENTRY.size)
        return ENTRY.unpack(self.f.read(ENTRY.size))


@record
def main():
    torch.cuda.set_device(device)
    dist.init_process_group("gloo", timeout=timedelta(seconds=90))
    index = Index(f"idx/doc_{RANK}.idx")
    net = nn.parallel.DistributedDataParallel(nn.Linear(16, 16))
    opt = torch.optim.SGD(net.parameters(), 0.01)
    start = 0
    if os.path.exists("last.pt"):
        start = torch.load("last.pt")["step"]
        print(f"resumed at step {start}", file=sys.stderr, flush=True)
    for step in range(start + 1, 101):
        rows = [index[(step - 1) * 9 + k] for k in range(9)]
        x = torch.tensor([[o % 97 / 97, n % 89 / 89, t / 7] + [0.0] * 13 for o, n, t in rows])
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", file=sys.stderr, flush=True)
            if RANK == 0:
                torch.save({"step": step}, "last.pt")
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
