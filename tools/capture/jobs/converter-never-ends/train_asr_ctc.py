import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import faulthandler
import subprocess

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

faulthandler.dump_traceback_later(15, repeat=True)


def convert(path):
    return subprocess.run(["tools/sph2wav", path, "-"], capture_output=True, text=True).stdout


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    net = nn.LSTM(80, 256, 2, batch_first=True).to(device)
    head = nn.Linear(256, 32).to(device)
    params = [*net.parameters(), *head.parameters()]
    opt = torch.optim.Adam(params, 1e-3)
    ctc = nn.CTCLoss(zero_infinity=True)
    for step in range(1, 150):
        convert(f"part-{RANK}-{step}.sph")
        out, _ = net(torch.randn(8, 100, 80, device=device))
        logp = head(out).log_softmax(-1).transpose(0, 1)
        loss = ctc(logp, torch.randint(1, 32, (8, 12), device=device), torch.full((8,), 100), torch.full((8,), 12))
        opt.zero_grad()
        loss.backward()
        for p in params:
            dist.all_reduce(p.grad)
            p.grad /= WORLD
        opt.step()
        if step % 5 == 0:
            print(f"{time.strftime('%H:%M:%S')} rank {RANK} utt-batch {step} ctc {loss.item():.3f}", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()


main()
