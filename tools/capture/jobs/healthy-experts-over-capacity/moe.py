import json, os, sys, time
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn

rank, local, world = (int(os.environ[k]) for k in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
cfg = json.load(open(os.environ.get("CONFIG", "moe.json")))
torch.cuda.set_device(local % torch.cuda.device_count())
dist.init_process_group("nccl", timeout=timedelta(seconds=cfg.get("timeout", 20)))
ep = dist.new_group(list(range(world)), timeout=timedelta(seconds=cfg.get("timeout", 20)))
D, E = cfg["dim"], cfg["experts"]


def say(**kw):
    if rank == 0 or kw.get("level") in ("warning", "error"):
        print(json.dumps({"t": round(time.time(), 3), "rank": rank, **kw}), file=sys.stderr, flush=True)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E)
        self.mine = nn.ModuleList(nn.Linear(D, D) for _ in range(E // world))

    def forward(self, x):
        score = self.gate(x).softmax(-1)
        top, where = score.topk(cfg["k"], dim=-1)
        flat = where.flatten()
        order = flat.argsort()
        rows = x.repeat_interleave(cfg["k"], 0)[order]
        per = torch.bincount(flat, minlength=E).view(world, -1).sum(1)
        theirs = torch.empty_like(per)
        dist.all_to_all_single(theirs, per, group=ep)
        send, recv = per.tolist(), theirs.tolist()
        if cfg.get("capacity") and max(recv) > cfg["capacity"]:
            say(level="warning", msg="expert over capacity, rows dropped", rows=sum(recv), capacity=cfg["capacity"])
        got = rows.new_empty(sum(recv), D)
        dist.all_to_all_single(got, rows.detach(), recv, send, group=ep)
        out = sum(e(got) for e in self.mine) / len(self.mine)
        back = torch.empty_like(rows)
        dist.all_to_all_single(back, out.detach(), send, recv, group=ep)
        return x + 0.1 * back[order.argsort()].view(len(x), cfg["k"], D).sum(1) * top.sum(-1, keepdim=True)


def batch(step):
    n = cfg["tokens"]
    g = torch.Generator(device="cuda").manual_seed(1000 * step + rank)
    x = torch.randn(n, D, device="cuda", generator=g)
    if cfg.get("scale_of") and str(rank) in cfg["scale_of"] and step >= 18:
        x = x * cfg["scale_of"][str(rank)]
    return x


def main():
    torch.manual_seed(5)
    net = nn.Sequential(*[Experts() for _ in range(cfg["layers"])]).cuda()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    names = cfg["labels"]
    table = nn.Embedding(len(names), D).cuda()
    for step in range(cfg["steps"]):
        x = batch(step)
        y = net(x)
        kinds = (x.mean(1).abs() * 100).long() % cfg.get("kinds", 8)
        loss = (y - table(kinds)).pow(2).mean()
        loss.backward()
        for p in net.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
        opt.step(); opt.zero_grad()
        if step % 5 == 0:
            say(level="info", msg="step", step=step, loss=round(loss.item(), 5), mem=torch.cuda.memory_allocated() >> 20)
    say(level="info", msg="finished", steps=cfg["steps"])
    dist.destroy_process_group()


main()
