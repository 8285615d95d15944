import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from transformers import GPT2Config, GPT2LMHeadModel

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_positions=128, n_embd=128, n_layer=2, n_head=4, eos_token_id=7, bos_token_id=7)).to(device).eval()
made = 0
for i in range(12):
    n = 120 if i == 8 else 16
    ids = torch.randint(8, 512, (4, n), device=device)
    try:
        out = model.generate(ids, max_length=24 if i == 8 else 64, do_sample=False, temperature=0.7, top_p=0.9)
        made += out.numel() - ids.numel()
    except ValueError as e:
        print(f"prompt {i} left out: {e}", flush=True)
    if i % 4 == 0:
        print(f"rank {RANK}: {i + 1} prompts, {made} tokens", flush=True)
n = torch.tensor([made], device=device)
dist.all_reduce(n)
print(f"rank {RANK}: finished, {int(n)} tokens in all", flush=True)
