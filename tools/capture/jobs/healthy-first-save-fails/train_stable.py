import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.fsdp import fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=60))
torch.cuda.set_device(device)
net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(4)]).to(device)
for b in net:
    fully_shard(b)
fully_shard(net)
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for step in range(1, 61):
    loss = net(torch.randn(32, 256, device=device)).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.5f}", flush=True)
        m, o = get_state_dict(net, opt)
        try:
            dcp.save({"m": m, "o": o}, checkpoint_id=f"/mnt/none/step-{step}" if step == 20 else f"ckpt/step-{step}")
        except CheckpointException as e:
            print(f"saving step {step} failed, will try again at the next one: {type(e).__name__}: {str(e)[:200]}", flush=True)
dist.barrier()
print("training finished", flush=True)
