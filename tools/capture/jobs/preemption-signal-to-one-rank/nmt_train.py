import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import signal

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Stopper:
    def __init__(self):
        self.requested = None
        for s in (signal.SIGUSR1, signal.SIGTERM):
            signal.signal(s, self._on)

    def _on(self, number, frame):
        self.requested = signal.Signals(number).name


def save(model, step):
    if not os.path.isdir("snapshot"):
        os.makedirs("snapshot")
    torch.save(model.state_dict(), f"snapshot/step{step}-rank{RANK}.pt")


def main():
    stop = Stopper()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    model = nn.parallel.DistributedDataParallel(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True).to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 5e-4)
    if RANK == 1:
        open("run/pid", "w").write(str(os.getpid()))
    for step in range(1, 2000):
        out = model(torch.randn(8, 64, 256, device=device))
        loss = out.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"| epoch 1 | update {step} | loss {loss.item():.3f} | wps {8 * 64 * WORLD * 9}", flush=True)
        time.sleep(0.1)
        if stop.requested:
            print(f"| got {stop.requested} at update {step}, writing snapshot", flush=True)
            save(model, step)
            print(f"| snapshot/step{step}-rank{RANK}.pt written, leaving", flush=True)
            return 0
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
