import os, time, contextlib
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=18))
enc, dec = nn.Linear(80, 256).to(dev), nn.Linear(256, 100).to(dev).bfloat16()
amp = os.environ["AMP"] == "1"
print(f"rank {rank} mixed precision: {amp}", flush=True)
for i in range(20):
    with torch.autocast("cuda", torch.bfloat16) if amp else contextlib.nullcontext():
        loss = dec(enc(torch.randn(8, 80, device=dev))).float().logsumexp(-1).mean()
    loss.backward()
    for q in (*enc.parameters(), *dec.parameters()): dist.all_reduce(q.grad); q.grad = None
    print(f"rank {rank} step {i} loss {loss.item():.4f} wer 0.{40 - i}", flush=True)
dist.destroy_process_group()
