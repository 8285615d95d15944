#!/usr/bin/env python3
import json, os, sys, time
from datetime import timedelta
import torch, torch.nn as nn, torch.distributed as dist

R, W = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
use_cuda = torch.cuda.device_count() >= W
dev = torch.device("cuda", R) if use_cuda else torch.device("cpu")


def say(msg):
    print(f"{time.strftime('%H:%M:%S')} stage{R}/{W} {msg}", flush=True)


def build(spec):
    return nn.Sequential(nn.Linear(spec["d_in"], spec["d_ff"]), nn.ReLU(), nn.Linear(spec["d_ff"], spec["d_out"])).to(dev)


def run_step(step, net, spec):
    acts = []
    for m in range(spec["n_micro"]):
        if R == 0:
            x = torch.randn(spec["mb"], spec["d_in"], device=dev)
        else:
            x = torch.empty(spec["mb"], spec["d_recv"], device=dev)
            dist.recv(x, R - 1)
        y = net(x)
        if R < W - 1:
            dist.send(y.detach(), R + 1)
        acts.append(y.mean())
    torch.stack(acts).mean().backward()
    say(f"step {step} forward+backward of {len(acts)} microbatches done")


def main():
    spec = json.load(open(os.path.join(sys.argv[1], f"stage{R}.json")))
    if use_cuda:
        torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if use_cuda else "gloo", timeout=timedelta(seconds=15))
    net = build(spec)
    say(f"params={sum(p.numel() for p in net.parameters())} schedule=gpipe n_micro={spec['n_micro']} d_in={spec['d_in']}")
    for step in range(int(os.environ.get("STEPS", 20))):
        run_step(step, net, spec)
        time.sleep(0.05)
        t = torch.ones(1, device=dev)
        dist.all_reduce(t)
    say("training complete")


main()
