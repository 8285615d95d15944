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


def load_config(repo):
    with open(hf_hub_download(repo, "tokenizer_config.json")) as f:
        return json.load(f)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    print(f"rank {RANK}: HF_HOME={os.environ['HF_HOME']}", flush=True)
    config = load_config("acme/sp32k")
    counts = torch.zeros(config["vocab_size"], device=device)
    for shard in range(40):
        counts += torch.bincount(torch.randint(0, 32000, (100000,), device=device), minlength=32000)
        dist.all_reduce(counts)
        counts /= WORLD
        print(f"rank {RANK}: shard {shard} counted", flush=True)
    dist.destroy_process_group()


main()
