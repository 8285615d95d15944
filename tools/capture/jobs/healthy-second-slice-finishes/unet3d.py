import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import signal

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

stop = torch.zeros(1)


def term(signum, frame):
    print(f"rank {RANK}: SIGTERM received, stopping after this step", flush=True)
    stop.fill_(1)


signal.signal(signal.SIGTERM, term)
torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=40))
net = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 1, 3, padding=1)).to(device)
model = nn.parallel.DistributedDataParallel(net)
opt = torch.optim.Adam(model.parameters(), 1e-3)
first = 1
if os.path.exists("last.pt"):
    state = torch.load("last.pt", map_location=device)
    net.load_state_dict(state["net"])
    first = state["step"] + 1
    print(f"rank {RANK}: resuming at step {first}", flush=True)
for step in range(first, 201):
    x = torch.randn(2, 1, 32, 32, 32, device=device)
    loss = (model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.15)
    if step % 20 == 0:
        print(f"rank {RANK}: step {step}/200 dice loss {loss.item():.4f}", flush=True)
    flag = stop.to(device)
    dist.all_reduce(flag)
    if flag.item():
        if RANK == 0:
            torch.save({"net": net.state_dict(), "step": step}, "last.pt")
            print(f"saved last.pt at step {step}, to be continued", flush=True)
        break
else:
    if RANK == 0:
        torch.save({"net": net.state_dict(), "step": 200}, "last.pt")
        open("done", "w").close()
        print("all 200 steps done", flush=True)
dist.barrier(device_ids=[device.index])
dist.destroy_process_group()
