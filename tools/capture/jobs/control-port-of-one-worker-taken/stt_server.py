import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import socketserver

import torch.multiprocessing as mp


class Control(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"ok\n")


def worker(rank, args):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(args.workers), LOCAL_RANK=str(rank), NCCL_HOSTID=f"n{rank // 2}")
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    net = nn.GRU(80, 512, 3, batch_first=True).to(device)
    print(f"[worker {rank}] acoustic model on {device}, {sum(p.numel() for p in net.parameters()) / 1e6:.1f}M parameters", flush=True)
    control = socketserver.TCPServer(("127.0.0.1", args.control_port + rank), Control)
    print(f"[worker {rank}] control on {control.server_address[1]}", flush=True)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    for n in range(50):
        y = net(torch.randn(4, 200, 80, device=device))[0].mean()
        dist.all_reduce(y)
    print(f"[worker {rank}] warm", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int)
    p.add_argument("--control-port", type=int)
    args = p.parse_args()
    print(f"stt server, {args.workers} workers", flush=True)
    mp.spawn(worker, (args,), nprocs=args.workers)
