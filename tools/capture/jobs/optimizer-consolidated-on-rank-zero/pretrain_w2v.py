import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.optim import ZeroRedundancyOptimizer

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def save(step, model, opt):
    if RANK == 0:
        opt.consolidate_state_dict(to=0)
        torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "step": step}, f"ckpt-{step}.pt")
        print(f"saved ckpt-{step}.pt", flush=True)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 3).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4)
    for step in range(1, 200):
        x = torch.randn(4, 100, 256, device=device)
        loss = (model(x) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"rank {RANK} step {step} contrastive {loss.item():.4f}", flush=True)
        if step % 50 == 0:
            save(step, model, opt)
    dist.destroy_process_group()


main()
