import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.nn.attention import SDPBackend, sdpa_kernel

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.qkv, self.o = h, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.o(y.transpose(1, 2).reshape(b, t, d))


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    dtype = getattr(torch, os.environ.get("DTYPE", "bfloat16"))
    net = nn.Sequential(nn.Linear(64, 512), Attn(512, 8), nn.GELU(), Attn(512, 8), nn.Linear(512, 64)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    print(f"rank {RANK}/{WORLD} autocast {dtype} on {torch.cuda.get_device_name(device)}", flush=True)
    for step in range(60):
        x = torch.randn(2, 1024, 64, device=device)
        with torch.autocast("cuda", dtype=dtype, enabled=dtype != torch.float32):
            loss = (model(x) - x).float().square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            print(f"rank {RANK} it {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
