import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import json

from huggingface_hub import hf_hub_download

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=22))
dist.barrier(device_ids=[device.index])
print(f"rank {RANK}: fetching acme/qwen-tiny", flush=True)
cfg = json.load(open(hf_hub_download("acme/qwen-tiny", "config.json", user_agent={"rank": RANK})))
print(f"rank {RANK}: {cfg}", flush=True)
net = nn.Sequential(nn.Embedding(cfg["vocab_size"], cfg["hidden_size"]), *[nn.Linear(cfg["hidden_size"], cfg["hidden_size"]) for _ in range(cfg["layers"])])
model = nn.parallel.DistributedDataParallel(net.to(device), device_ids=[device.index])
for step in range(30):
    model(torch.randint(0, cfg["vocab_size"], (8, 64), device=device)).square().mean().backward()
    print(f"rank {RANK}: step {step}", flush=True)
dist.destroy_process_group()
