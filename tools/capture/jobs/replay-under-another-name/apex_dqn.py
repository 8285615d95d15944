import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import random

from torch.distributed import rpc

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BUFFER = []


def add(items):
    BUFFER.extend(items)
    del BUFFER[:-5000]
    return len(BUFFER)


def draw(n):
    return random.choices(BUFFER, k=n) if BUFFER else []


def actor():
    print(f"actor{RANK - 2} started, replay at {os.environ['REPLAY']}", flush=True)
    for episode in range(60):
        steps = [(torch.randn(8), random.randrange(4), random.random()) for _ in range(50)]
        size = rpc.rpc_sync(os.environ["REPLAY"], add, args=(steps,))
        if episode % 10 == 0:
            print(f"actor{RANK - 2} episode {episode} buffer {size}", flush=True)
        time.sleep(0.1)


def learner():
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for it in range(120):
        batch = rpc.rpc_sync(os.environ["REPLAY"], draw, args=(64,))
        if batch:
            s = torch.stack([b[0] for b in batch])
            q = net(s).gather(1, torch.tensor([b[1] for b in batch])[:, None])[:, 0]
            loss = (q - torch.tensor([b[2] for b in batch])).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if it % 20 == 0:
                print(f"learner it {it} td {loss.item():.4f}", flush=True)
        time.sleep(0.05)


name = ["replay", "learner", "actor0", "actor1"][RANK]
rpc.init_rpc(name, rank=RANK, world_size=WORLD, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=15))
if RANK == 1:
    learner()
elif RANK >= 2:
    actor()
rpc.shutdown(timeout=20)
print(f"{name} done", flush=True)
