import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.fsdp import fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

ROWS = [512, 512, 520, 512]


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    torch.manual_seed(0)
    net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(4)]).to(device)
    for block in net:
        fully_shard(block)
    fully_shard(net)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    val = torch.randn(ROWS[RANK], 256, generator=torch.Generator().manual_seed(RANK))
    print(f"rank {RANK}: {len(val)} validation rows", flush=True)
    for step in range(1, 101):
        loss = net(torch.randn(64, 256, device=device)).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            print(f"rank {RANK}: step {step} loss {loss.item():.5f}", flush=True)
        if step % 40 == 0:
            net.eval()
            with torch.no_grad():
                losses = [net(b.to(device)).square().mean() for b in val.split(64)]
            print(f"rank {RANK}: validation over {len(losses)} batches {torch.stack(losses).mean().item():.5f}", flush=True)
            net.train()
    dist.barrier(device_ids=[device.index])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
