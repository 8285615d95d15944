import os, socket, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(lr)
dev = torch.device("cuda", lr)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
print(f"{socket.gethostname()} rank {rank} local {lr} {torch.cuda.get_device_name(lr)} torch {torch.__version__} nccl {torch.cuda.nccl.version()}", flush=True)
router = nn.Linear(256, 4).to(dev)
experts = nn.Linear(256, 256).to(dev)
for step in range(16):
    x = torch.randn(64, 256, device=dev)
    buckets = [b.contiguous() for b in x.chunk(4)]
    out = [torch.empty_like(b) for b in buckets]
    dist.all_to_all(out, buckets)
    y = experts(torch.cat(out))
    dist.all_reduce(y)
    if rank == 0: print(f"step {step} balance {router(x).softmax(-1).mean(0).max().item():.3f}", flush=True)
dist.destroy_process_group()
