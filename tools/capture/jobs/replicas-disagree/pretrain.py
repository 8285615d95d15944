import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("pretrain")


def checksum(model):
    total = torch.zeros((), dtype=torch.int64, device=device)
    for i, p in enumerate(model.parameters()):
        total += (p.detach().view(torch.int32).long() * (i + 1)).sum()
    return total


def compare(model, step):
    mine = checksum(model)
    sums = [torch.empty_like(mine) for _ in range(WORLD)]
    dist.all_gather(sums, mine)
    sums = [int(s) & 0xFFFFFFFF for s in sums]
    if len(set(sums)) == 1:
        if RANK == 0:
            log.info("step %d: replicas agree, 0x%08x", step, sums[0])
        return
    usual = max(set(sums), key=sums.count)
    other = [r for r, s in enumerate(sums) if s != usual]
    log.error("step %d: parameters of ranks %s differ from the others: %s", step, other, [f"0x{s:08x}" for s in sums])
    sys.exit(17)


def disturb(model, step):
    if (RANK, step) == (2, 133):
        with torch.no_grad():
            model.module[2].weight.view(torch.int32).view(-1)[77123] ^= 1 << 22


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    torch.manual_seed(11)
    net = nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    for step in range(1, 301):
        x = torch.randn(64, 512, device=device)
        loss = (model(x) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        disturb(model, step)
        if step % 25 == 0:
            if RANK == 0:
                log.info("step %d loss %.4f", step, loss.item())
            compare(model, step)
        time.sleep(0.02)
    dist.destroy_process_group()


main()
