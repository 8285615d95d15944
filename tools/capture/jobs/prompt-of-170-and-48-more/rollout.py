import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import random

from transformers import GPT2Config, GPT2LMHeadModel

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=18))
torch.manual_seed(1)
model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_positions=192, n_embd=128, n_layer=2, n_head=4, eos_token_id=511, bos_token_id=511, pad_token_id=510)).to(device).eval()
for p in model.parameters():
    dist.broadcast(p.data, 0)
rng, tokens = random.Random(RANK), 0
for i in range(1, 31):
    n = rng.randrange(16, 120) if (RANK, i) != (2, 14) else 170
    ids = torch.randint(0, 500, (4, n), device=device)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=48, min_new_tokens=48, do_sample=True, top_k=40)
    tokens += out.numel() - ids.numel()
    total = torch.tensor([tokens], device=device)
    dist.all_reduce(total)
    if i % 3 == 0:
        print(f"rank {RANK}: {i} groups, prompt {n}, {int(total)} tokens in all", flush=True)
dist.destroy_process_group()
