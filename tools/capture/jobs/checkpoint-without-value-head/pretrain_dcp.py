import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))

import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
class GPT(nn.Module):
    def __init__(self, head):
        super().__init__(); self.blocks = nn.ModuleList(nn.Linear(128, 128) for _ in range(4))
        if head: self.value_head = nn.Linear(128, 2)
    def forward(self, x):
        for b in self.blocks: x = x + b(x).relu()
        return x
model = GPT(os.environ["HEAD"] == "1").to(dev)
for b in model.blocks: fully_shard(b)
fully_shard(model); opt = torch.optim.AdamW(model.parameters(), 1e-3)
for _ in range(3): model(torch.randn(8, 128, device=dev)).square().mean().backward(); opt.step(); opt.zero_grad()
if "--resume" in sys.argv:
    ms, os_ = get_state_dict(model, opt)
    if rank == 0: print("resuming from ckpt/step_3", flush=True)
    dcp.load({"model": ms, "optim": os_}, checkpoint_id="ckpt/step_3")
    set_state_dict(model, opt, model_state_dict=ms, optim_state_dict=os_)
else:
    ms, os_ = get_state_dict(model, opt); dcp.save({"model": ms, "optim": os_}, checkpoint_id="ckpt/step_3")
dist.destroy_process_group()
