import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(minutes=2))
torch.manual_seed(3)
net = nn.Sequential(*[nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0) for _ in range(3)]).to(device)
for layer in net:
    fully_shard(layer, mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
fully_shard(net)
opt = torch.optim.AdamW(net.parameters(), 1e-3, foreach=True)
for step in range(1, 41):
    x = torch.randn(4, 32, 128, device=device)
    loss = (net(x).float() - x).square().mean()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} grad norm {norm.full_tensor().item():.3f}", flush=True)
dcp.save({"model": get_model_state_dict(net)}, checkpoint_id="ckpt/step-40")
print("checkpoint written, bye", flush=True)
