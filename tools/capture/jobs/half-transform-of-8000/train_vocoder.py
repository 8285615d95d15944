import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class SpectralLoss(nn.Module):
    def forward(self, a, b):
        return sum((self.mag(a, n) - self.mag(b, n)).abs().mean() for n in (a.shape[-1],))

    def mag(self, x, n):
        return torch.fft.rfft(x.half(), n=n).abs().float()


def segment(step):
    return 8192 if RANK != 2 or step < 70 else 8192 - 192 * (step % 2)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Conv1d(1, 1, 31, padding=15).to(device))
    opt = torch.optim.AdamW(model.parameters(), 2e-4)
    loss_fn = SpectralLoss()
    for step in range(200):
        x = torch.randn(16, 1, segment(step), device=device)
        loss = loss_fn(model(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"{step:6d} mel/stft loss {loss.item():.3f}")
        time.sleep(0.05)
    dist.destroy_process_group()


main()
