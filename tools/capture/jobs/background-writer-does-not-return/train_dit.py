import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import faulthandler
import threading

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Writer:
    """Writes checkpoints in the background, one at a time."""

    def __init__(self):
        self.thread = None

    def write(self, state, path):
        with open(path, "wb") as f:
            torch.save(state, f)

    def submit(self, state, path):
        if self.thread is not None:
            self.thread.join()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.thread = threading.Thread(target=self.write, args=(state, path), name="ckpt-writer", daemon=True)
        self.thread.start()


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 2048), nn.SiLU(), nn.Linear(2048, 512)).to(device))
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    writer = Writer()
    for step in range(1, 1000):
        faulthandler.dump_traceback_later(11, exit=False)
        loss = model(torch.randn(32, 512, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"{time.strftime('%m/%d %H:%M:%S')} step {step} loss {loss.item():.4f}", file=sys.stderr)
        if step % 40 == 0:
            writer.submit({k: v.cpu() for k, v in model.state_dict().items()}, f"ckpt/step-{step}/shard-{RANK}.pt")
            print(f"{time.strftime('%m/%d %H:%M:%S')} checkpoint step-{step} submitted", file=sys.stderr)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
