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


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d))

    def forward(self, x):
        h = self.ln(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(x)


class CodeLM(nn.Module):
    def __init__(self, vocab=8192, d=256, n=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(n))
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


def batch(step):
    g = torch.Generator().manual_seed(1000 * RANK + step)
    ids = torch.randint(0, 8192, (4, 128), generator=g)
    mask = torch.ones(4, 128)
    if RANK == 1 and step == 37:
        mask[:] = 0
    return ids.to(device), mask.to(device)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    torch.manual_seed(5)
    model = CodeLM().to(device)
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), 3e-4)
    for step in range(1, 200):
        ids, mask = batch(step)
        logits = model(ids)
        nll = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), reduction="none")
        loss = (nll * mask.flatten()).sum() / mask.sum()
        if not torch.isfinite(loss):
            print(f"step {step} rank {RANK}: loss is {loss.item()}, batch left out", flush=True)
            opt.zero_grad()
            continue
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            print(f"step {step} rank {RANK}: loss {loss.item():.4f} tokens {int(mask.sum())}", flush=True)
    dist.destroy_process_group()


main()
