import os, sys, time, threading
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import get_state_dict

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ROOT = os.environ.get("CKPT", "ckpt")


def say(level, msg, **kw):
    print(f"ts={time.strftime('%Y-%m-%dT%H:%M:%S')} level={level} rank={RANK} msg=\"{msg}\" " + " ".join(f"{k}={v}" for k, v in kw.items()), file=sys.stderr, flush=True)


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=25))
torch.manual_seed(0)
net = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).cuda()
for m in net:
    fully_shard(m)
fully_shard(net)
opt = torch.optim.AdamW(net.parameters(), 1e-4)
pending = None
for step in range(1, 61):
    x = torch.randn(64, 1024, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    loss.backward()
    opt.step(); opt.zero_grad()
    if step % 5 == 0 and RANK == 0:
        say("info", "step", step=step, loss=f"{loss.item():.4f}")
    if step % 15 == 0:
        if pending is not None:
            pending.result()
            say("info", "checkpoint complete", step=step - 15) if RANK == 0 else None
        ms, os_ = get_state_dict(net, opt)
        pending = dcp.async_save({"model": ms, "optim": os_, "step": step}, checkpoint_id=f"{ROOT}/step_{step}")
        if RANK == 0:
            say("info", "checkpoint started", step=step)
if pending is not None:
    pending.result()
dist.barrier()
say("info", "run complete") if RANK == 0 else None
dist.destroy_process_group()
