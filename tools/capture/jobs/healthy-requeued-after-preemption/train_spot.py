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

flag = []
signal.signal(signal.SIGUSR1, lambda *a: flag.append(1))


def main():
    os.makedirs("run", exist_ok=True)
    with open(f"run/pid{RANK}", "w") as f:
        f.write(str(os.getpid()))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=30))
    model = nn.parallel.DistributedDataParallel(nn.Linear(1024, 1024).to(device))
    opt = torch.optim.AdamW(model.parameters())
    start = 0
    if os.path.exists("run/state.pt"):
        s = torch.load("run/state.pt", map_location=device)
        model.load_state_dict(s["model"])
        start = s["step"]
        print(f"[{RANK}] continuing from step {start}", flush=True)
    for step in range(start + 1, 161):
        loss = model(torch.randn(32, 1024, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        stop = torch.tensor(len(flag), device=device)
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
        if step % 20 == 0:
            print(f"[{RANK}] step {step} loss {loss.item():.4f}", flush=True)
        if stop.item():
            print(f"[{RANK}] preemption notice, saving at step {step}", flush=True)
            if RANK == 0:
                torch.save({"model": model.state_dict(), "step": step}, "run/state.pt")
            dist.barrier()
            dist.destroy_process_group()
            sys.exit(85)
        time.sleep(0.1)
    print(f"[{RANK}] reached step 160", flush=True)
    dist.destroy_process_group()


main()
