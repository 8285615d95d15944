import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))
emb = nn.Embedding(1000, 128).to(dev); pos = nn.Embedding(512, 128).to(dev); out = nn.Linear(128, 1000).to(dev)
short = torch.arange(384, device=dev)

def forward(tokens, last_stage):
    h = emb(tokens)
    if last_stage: h = h + pos(short)           # the reward head uses absolute positions
    return out(torch.nn.functional.gelu(h)).logsumexp(-1).mean()

step_fn = torch.compile(forward)
opt = torch.optim.SGD([*emb.parameters(), *out.parameters()], 0.1)
for i in range(12):
    t = torch.randint(0, 1000, (8, 384), device=dev)
    torch._dynamo.mark_dynamic(t, 1)
    loss = step_fn(t, rank == 1)
    loss.backward()
    for q in (*emb.parameters(), *out.parameters()): dist.all_reduce(q.grad)
    opt.step(); opt.zero_grad()
    print(f"[{rank}] it {i} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
