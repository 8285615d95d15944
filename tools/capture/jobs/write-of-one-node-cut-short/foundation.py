import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import logging

import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s][{RANK}][%(levelname)s] %(message)s")
log = logging.getLogger("fm")


def build():
    torch.manual_seed(7)
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 2048), nn.GELU(), nn.Linear(2048, 1024)) for _ in range(2)]).to(device)
    for block in model:
        fully_shard(block)
    fully_shard(model)
    return model, torch.optim.AdamW(model.parameters(), 1e-4)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ckpt")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=25))
    model, opt = build()
    pending = None
    for step in range(1, 200):
        loss = model(torch.randn(16, 1024, device=device)).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            log.info("step %d loss %.5f", step, loss.item())
        if step % 30 == 0:
            if pending is not None:
                pending.result()
                log.info("previous checkpoint committed")
            log.info("async save to %s/step-%d", args.ckpt, step)
            pending = dcp.async_save({"model": model.state_dict(), "step": step}, checkpoint_id=f"{args.ckpt}/step-{step}")
        time.sleep(0.05)
    pending.result()
    dist.destroy_process_group()


main()
