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


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(256, 256), nn.Linear(256, 256)

    def forward(self, x, step):
        h = torch.relu(self.a(x))
        if h.abs().max().item() > 1e4:
            h = h.clamp(max=1e4)
        return self.b(h) * (1 + 0.001 * step)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=120))
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(Net().to(device))
    model = torch.compile(model)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(24):
        x = torch.randn(32 + 8 * (step % 3), 256, device=device)
        loss = model(x, step).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 4 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print("compiled run finished")
    dist.destroy_process_group()


main()
