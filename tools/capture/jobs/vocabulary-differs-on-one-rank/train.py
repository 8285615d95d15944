import os, collections, random
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

def build_vocab(lines, least=1):
    c = collections.Counter(w for l in lines for w in l.split())
    return {w: i for i, (w, n) in enumerate(sorted(c.items())) if n >= least}

def main():
    cuda = torch.cuda.is_available(); rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    dev = torch.device(f"cuda:{lr}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    lines = [f"wort{i % 997} und wort{i % 1013}" for i in range(4000)]
    if rank == 2: lines += ["Überraschung"]
    vocab = build_vocab(lines)
    print(f"rank {rank}: vocabulary of {len(vocab)} words", flush=True)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    net = nn.Sequential(nn.Embedding(len(vocab), 64), nn.Linear(64, len(vocab))).to(dev)
    ddp = nn.parallel.DistributedDataParallel(net)
    for step in range(20):
        ddp(torch.randint(0, len(vocab), (8, 12), device=dev)).logsumexp(-1).mean().backward()
        if rank == 0: print(f"update {step} ppl {100 - step:.2f}", flush=True)
    dist.destroy_process_group()

main()
