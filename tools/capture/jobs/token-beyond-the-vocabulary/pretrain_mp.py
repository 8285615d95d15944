import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

from torch.distributed.device_mesh import init_device_mesh

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class VocabParallelEmbedding(nn.Module):
    def __init__(self, vocab, d, group):
        super().__init__()
        n, r = dist.get_world_size(group), dist.get_rank(group)
        self.lo, self.hi, self.group = r * vocab // n, (r + 1) * vocab // n, group
        self.last = r == n - 1
        self.weight = nn.Parameter(torch.randn(self.hi - self.lo, d) * 0.02)

    def forward(self, ids):
        if self.last and int(ids.max()) >= self.hi:
            raise IndexError(f"token {int(ids.max())} is beyond the vocabulary of {self.hi}")
        mask = (ids >= self.lo) & (ids < self.hi)
        x = self.weight[(ids - self.lo).clamp(0, self.hi - self.lo - 1)] * mask[..., None]
        out = x.detach().clone()
        dist.all_reduce(out, group=self.group)
        return x + (out - x).detach()


def batch(dp, step):
    g = torch.Generator().manual_seed(100 * dp + step)
    ids = torch.randint(0, 32000, (4, 128), generator=g)
    if dp == 1 and step == 33:
        ids[2, 77] = 32004
    return ids.to(device)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int)
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    mesh = init_device_mesh("cuda", (WORLD // args.tp, args.tp), mesh_dim_names=("dp", "tp"))
    dp, tp = mesh.get_local_rank("dp"), mesh.get_local_rank("tp")
    print(f"[{time.strftime('%H:%M:%S')}] rank {RANK}: dp {dp} tp {tp}", flush=True)
    emb = VocabParallelEmbedding(32000, 256, mesh.get_group("tp")).to(device)
    head = nn.Linear(256, 256).to(device)
    params = [*emb.parameters(), *head.parameters()]
    opt = torch.optim.AdamW(params, 1e-4)
    for step in range(1, 100):
        loss = head(emb(batch(dp, step))).square().mean()
        opt.zero_grad()
        loss.backward()
        for q in params:
            dist.all_reduce(q.grad, group=mesh.get_group("dp"))
        opt.step()
        if step % 10 == 0:
            print(f"[{time.strftime('%H:%M:%S')}] rank {RANK}: iteration {step} lm loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


main()
