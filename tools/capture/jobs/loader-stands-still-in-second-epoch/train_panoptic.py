import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import faulthandler
import threading

from torch.utils.data import DataLoader, Dataset

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

cache_lock = threading.Lock()
cache, last = {}, [time.time()]


def report():
    while True:
        with cache_lock:
            time.sleep(0.4)
            open(f"cache-{RANK}.txt", "w").write(f"{len(cache)}\n")
        time.sleep(0.01)


def stalled():
    while True:
        time.sleep(1)
        if time.time() - last[0] > 9:
            print(f"{time.strftime('%H:%M:%S')} rank {RANK}: no step for 9 s", flush=True)
            faulthandler.dump_traceback(all_threads=False)
            last[0] = time.time() + 3600


class Pictures(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, i):
        with cache_lock:
            cache[i] = 1
        return torch.randn(3, 64, 64)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    net = nn.parallel.DistributedDataParallel(nn.Conv2d(3, 8, 3).to(device))
    opt = torch.optim.SGD(net.parameters(), 0.01)
    for epoch in range(3):
        if RANK == 0 and epoch == 1:
            threading.Thread(target=report, daemon=True).start()
            time.sleep(0.1)
        if epoch == 0:
            last[0] = time.time() + 30
        for i, x in enumerate(DataLoader(Pictures(), batch_size=16, num_workers=2)):
            if epoch == 0 and i == 1:
                last[0] = time.time()
                threading.Timer(0, stalled).start()
            loss = net(x.to(device)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            last[0] = max(last[0], time.time())
            time.sleep(0.05)
            if i % 5 == 0:
                print(f"{time.strftime('%H:%M:%S')} rank {RANK}: epoch {epoch} [{i}/20] {loss.item():.4f}", flush=True)
    print("finished", flush=True)
    os._exit(0)


main()
