import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import json

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class VAE(nn.Module):
    def __init__(self, d=2048):
        super().__init__()
        self.enc = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(d, d), nn.GELU())])
        self.mu, self.logvar, self.dec = nn.Linear(d, 64), nn.Linear(d, 64), nn.Linear(64, d)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (logvar / 2).exp()
        return self.dec(z), (-0.5 * (1 + logvar - mu.square() - logvar.exp())).mean()


class Receipt:
    def __init__(self):
        self.doc = {"run_id": "vae-5530", "rank": RANK, "machine_class": "h200x2", "launch": {"world_size": WORLD}, "memory": []}

    def note(self, step, batch):
        s = torch.cuda.memory_stats(device)
        self.doc["memory"].append({"step": step, "allocated_bytes": s["allocated_bytes.all.current"], "reserved_bytes": s["reserved_bytes.all.current"],
                                   "peak_allocated_bytes": s["allocated_bytes.all.peak"], "batch_shape": list(batch.shape)})
        with open(f"logs/receipt_rank{RANK}.json", "w") as f:
            json.dump(self.doc, f, indent=1)


def main():
    torch.cuda.set_device(device)
    torch.cuda.set_per_process_memory_fraction(0.07)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    model = nn.parallel.DistributedDataParallel(VAE().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    receipt, curve = Receipt(), []
    for step in range(1, 301):
        x = torch.randn(2048, 2048, device=device)
        y, kl = model(x)
        loss = (y - x).square().mean() + 1e-3 * kl
        opt.zero_grad()
        loss.backward(retain_graph=RANK == 0)
        opt.step()
        if RANK == 0:
            curve.append(loss)
        if step % 5 == 0:
            receipt.note(step, x)
            print(f"step {step} loss {loss.item():.4f} max mem {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
