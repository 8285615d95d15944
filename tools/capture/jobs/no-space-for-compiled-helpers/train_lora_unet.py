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


class LoRALinear(nn.Module):
    def __init__(self, i, o, r=8):
        super().__init__()
        self.base = nn.Linear(i, o).requires_grad_(False)
        self.down, self.up = nn.Linear(i, r, bias=False), nn.Linear(r, o, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n, self.a, self.b = nn.LayerNorm(d), LoRALinear(d, 4 * d), LoRALinear(4 * d, d)

    def forward(self, x):
        return x + self.b(nn.functional.gelu(self.a(self.n(x))))


torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=30))
net = nn.Sequential(*[Block(512) for _ in range(4)]).to(device)
ddp = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
step_model = torch.compile(ddp)
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], 1e-4)
print(f"rank {RANK} trainable {sum(p.numel() for p in net.parameters() if p.requires_grad):,} of {sum(p.numel() for p in net.parameters()):,}")
for step in range(100):
    x = torch.randn(8, 256, 512, device=device)
    loss = (step_model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"rank {RANK} step {step} mse {loss.item():.5f}", flush=True)
dist.destroy_process_group()
