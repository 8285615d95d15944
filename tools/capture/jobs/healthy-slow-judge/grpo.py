import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import random
from concurrent.futures import ThreadPoolExecutor, TimeoutError

import torch.multiprocessing as mp


def judge(seed):
    r = random.Random(seed)
    time.sleep(1.2 if r.random() < 0.05 else 0.005)
    if r.random() < 0.03:
        raise ConnectionResetError(104, "Connection reset by peer")
    return r.random()


def reward(pool, seed, rank):
    for attempt in range(1, 4):
        try:
            return pool.submit(judge, seed * 10 + attempt).result(timeout=0.4)
        except TimeoutError:
            print(f"[rank {rank}] WARNING judge: timed out after 0.4 s (attempt {attempt}/3)", flush=True)
        except ConnectionResetError as e:
            print(f"[rank {rank}] WARNING judge: {e!r} (attempt {attempt}/3)", flush=True)
    print(f"[rank {rank}] ERROR judge: no reward for sample {seed}, using 0.0", flush=True)
    return 0.0


def run(rank):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).cuda())
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    with ThreadPoolExecutor(8) as pool:
        for it in range(1, 31):
            r = torch.tensor([reward(pool, it * 100 + rank * 50 + k, rank) for k in range(8)], device="cuda")
            adv = (r - r.mean()) / (r.std() + 1e-4)
            logits = net(torch.randn(8, 64, device="cuda"))
            loss = -(adv * logits.log_softmax(-1)[:, 0]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if it % 10 == 0:
                print(f"[rank {rank}] iteration {it} reward {r.mean().item():.3f} kl {random.random() / 50:.4f}", flush=True)
    dist.barrier(device_ids=[rank])
    print(f"[rank {rank}] finished 30 iterations", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, nprocs=2)
