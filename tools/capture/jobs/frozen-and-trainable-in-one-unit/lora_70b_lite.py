import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
class Block(nn.Module):
    def __init__(self, d=256):
        super().__init__(); self.base = nn.Linear(d, d); self.a = nn.Linear(d, 8, bias=False); self.b = nn.Linear(8, d, bias=False)
        self.base.requires_grad_(False)
    def forward(self, x): return self.base(x) + self.b(self.a(x))
model = nn.Sequential(*[Block() for _ in range(8)])
if rank == 0: print(f"adapters on {len(model)} blocks", flush=True)
model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({Block}), mixed_precision=MixedPrecision(param_dtype=torch.bfloat16), device_id=dev)
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for step in range(10):
    model(torch.randn(4, 256, device=dev)).float().mean().backward(); opt.step(); opt.zero_grad()
