import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import subprocess
from concurrent.futures import ThreadPoolExecutor

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

POOL = ThreadPoolExecutor(4)
GOOD = "print(sum(range(100)))"
LONG = "n = 3\nwhile n % 2: n += 2\nprint(n)"


def passed(code):
    r = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    return float(r.stdout.strip() == "4950")


def rewards(step):
    programs = [GOOD] * 8
    if RANK == 2 and step == 12:
        programs[5] = LONG
    futures = [POOL.submit(passed, c) for c in programs]
    return torch.tensor([f.result(timeout=6) for f in futures], device=device)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=18))
    policy = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(policy.parameters(), 1e-5)
    for step in range(1, 40):
        r = rewards(step)
        adv = (r - r.mean()) / (r.std() + 1e-4)
        loss = (policy(torch.randn(8, 256, device=device)).mean(-1) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"[grpo] rank {RANK} step {step} reward {r.mean().item():.3f} loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


try:
    main()
finally:
    POOL.shutdown(wait=False, cancel_futures=True)
    if sys.exc_info()[0]:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
