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


class Vision(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 14, 14)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(d, 4, 2 * d, batch_first=True) for _ in range(2))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        for b in self.blocks:
            x = b(x)
        return x


class VLM(nn.Module):
    def __init__(self, d=256, vocab=4096):
        super().__init__()
        self.vision = Vision(d)
        self.emb = nn.Embedding(vocab, d)
        self.decoder = nn.ModuleList(nn.TransformerEncoderLayer(d, 4, 2 * d, batch_first=True) for _ in range(3))
        self.head = nn.Linear(d, vocab)

    def forward(self, ids, images):
        x = self.emb(ids)
        if images is not None:
            x = torch.cat([self.vision(images), x], 1)
        for layer in self.decoder:
            x = layer(x)
        return self.head(x[:, -ids.shape[1]:])


def sample(step):
    ids = torch.randint(0, 4096, (2, 64), device=device)
    n = 2
    if RANK == 3 and step == 42:
        n = 0
    return ids, torch.randn(n, 3, 56, 56, device=device) if n else None


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    torch.manual_seed(0)
    model = VLM().to(device)
    for b in [*model.vision.blocks, *model.decoder]:
        fully_shard(b)
    fully_shard(model.vision)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    for step in range(1, 150):
        ids, images = sample(step)
        if step % 6 == 0:
            print(f"it {step} | images {0 if images is None else len(images)} | text tokens {ids.numel()}", flush=True)
        loss = nn.functional.cross_entropy(model(ids, images).flatten(0, 1), ids.flatten())
        loss.backward()
        opt.step()
        opt.zero_grad()
    dist.destroy_process_group()


main()
