import os, time, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
e = os.environ
def log(s): print(f"{time.time():.3f} actor/{e['RANK']}: {s}", file=sys.stderr, flush=True)
dev = torch.device("cuda", int(e["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
log(f"joining {e['WORLD_SIZE']} actors at {e['MASTER_ADDR']}:{e['MASTER_PORT']}")
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
log("joined")
policy = nn.parallel.DistributedDataParallel(nn.Linear(256, 64).to(dev)); opt = torch.optim.Adam(policy.parameters(), 3e-4)
for it in range(100):
    loss = -(policy(torch.randn(64, 256, device=dev)).log_softmax(-1)[:, 0] * torch.randn(64, device=dev)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 20 == 0: log(f"iteration {it} surrogate {loss.item():.4f}")
dist.destroy_process_group()
