import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format=f"%(asctime)s stage{RANK} %(levelname)s %(message)s")
log = logging.getLogger()
D, MB, N = 512, 32, 4


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.ffn = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.router = nn.Linear(D, 16) if RANK == 2 else None

    def forward(self, x, temperature):
        aux = x.new_zeros(())
        if self.router is not None:
            p = torch.softmax(self.router(x.detach()) / temperature, -1)
            aux = (p * p.log()).sum(-1).mean()
        return x + self.ffn(x), aux


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=40))
    torch.manual_seed(RANK)
    stage = Stage().to(device)
    opt = torch.optim.AdamW(stage.parameters(), 3e-4)
    for step in range(300):
        temperature = max(1.0 - 0.02 * step, 0.002)
        tape = []
        for m in range(N):
            x = torch.randn(MB, D, device=device) if RANK == 0 else torch.empty(MB, D, device=device)
            if RANK:
                dist.recv(x, RANK - 1)
                x.requires_grad_()
            y, aux = stage(x, temperature)
            if RANK < WORLD - 1:
                dist.send(y.detach(), RANK + 1)
            tape.append((x, y, aux))
        for x, y, aux in tape:
            if RANK < WORLD - 1:
                g = torch.empty_like(y)
                dist.recv(g, RANK + 1)
            else:
                loss = y.square().mean()
                g = torch.autograd.grad(loss, y, retain_graph=True)[0]
            torch.autograd.backward([y, aux] if aux.requires_grad else [y], [g, torch.ones_like(aux) * 1e-3] if aux.requires_grad else [g])
            if RANK:
                dist.send(x.grad, RANK - 1)
        norm = nn.utils.clip_grad_norm_(stage.parameters(), 1.0, error_if_nonfinite=True)
        opt.step()
        opt.zero_grad()
        if step % 5 == 0:
            log.info("step %d grad norm %.4f%s", step, norm.item(), f" loss {loss.item():.4f}" if RANK == WORLD - 1 else f" temperature {temperature:.3f}" if RANK == 2 else "")
        time.sleep(0.05)
    dist.destroy_process_group()


main()
