import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import signal
import threading

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

state_lock = threading.Lock()
state = {"step": 0}


def save_now(signum, frame):
    print(f"rank {RANK}: {signal.Signals(signum).name}, saving at step {state['step']}", flush=True)
    with state_lock:
        torch.save({k: v.cpu() for k, v in model.module.state_dict().items()}, "codec-now.pt")
    print(f"rank {RANK}: saved codec-now.pt", flush=True)


def main():
    for step in range(1, 1001):
        if step == 20:
            open('codec.lock', 'w').close()
        wav = torch.randn(16, 1, 8192, device=device)
        with state_lock:
            loss = (model(wav) - wav).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch.cuda.synchronize()
            state["step"] = step
            time.sleep(0.1)
        if step % 20 == 0:
            print(f"rank {RANK}: step {step} l1 {loss.item():.4f}", flush=True)


torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv1d(1, 32, 9, padding=4), nn.ELU(), nn.Conv1d(32, 1, 9, padding=4)).to(device))
opt = torch.optim.AdamW(model.parameters(), 3e-4)
signal.signal(signal.SIGUSR1, save_now)
main()
