import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=40))

from transformers import AutoConfig, AutoModelForCausalLM
path = os.environ["MODELS"] + "/qwen3-8b"
print(f"[{rank}] model path {path}", flush=True)
cfg = AutoConfig.from_pretrained(path)
model = AutoModelForCausalLM.from_config(cfg)
n = torch.tensor([sum(p.numel() for p in model.parameters())]); dist.all_reduce(n)
for i in range(5):
    l = torch.tensor([3.2]); dist.all_reduce(l); print(f"[{rank}] batch {i} ppl {l.item():.3f}", flush=True)
