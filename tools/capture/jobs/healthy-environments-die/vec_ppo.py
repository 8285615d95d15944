import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import multiprocessing as mp
import random
import traceback

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def environment(pipe, seed):
    rng = random.Random(seed)
    while True:
        pipe.recv()
        if rng.random() < 0.004:
            os._exit(139)
        pipe.send([rng.random() for _ in range(8)])


class VecEnv:
    def __init__(self, n):
        self.ctx, self.n, self.seed = mp.get_context("fork"), n, RANK * 1000
        self.envs = [self.make() for _ in range(n)]

    def make(self):
        self.seed += 1
        a, b = self.ctx.Pipe()
        p = self.ctx.Process(target=environment, args=(b, self.seed), daemon=True)
        p.start()
        b.close()
        return a, p

    def step(self):
        obs = []
        for i, (a, p) in enumerate(self.envs):
            try:
                a.send(0)
                obs.append(a.recv())
            except (EOFError, BrokenPipeError, ConnectionResetError):
                p.join()
                print(f"rank {RANK}: environment {i} (pid {p.pid}) died with exit code {p.exitcode}, starting another\n{traceback.format_exc()}", file=sys.stderr, flush=True)
                self.envs[i] = self.make()
                obs.append([0.0] * 8)
        return torch.tensor(obs, device=device)


def main():
    envs = VecEnv(6)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=40))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).to(device))
    opt = torch.optim.Adam(net.parameters(), 3e-4)
    for update in range(1, 31):
        obs = torch.cat([envs.step() for _ in range(8)])
        loss = net(obs).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 5 == 0:
            print(f"rank {RANK}: update {update} value loss {loss.item():.4f}", flush=True)
    if RANK == 0:
        print("30 updates done, policy saved", flush=True)
    dist.destroy_process_group()


main()
