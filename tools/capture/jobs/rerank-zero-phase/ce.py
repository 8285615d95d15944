import json, os, sys, time
from datetime import timedelta
from pathlib import Path
import torch, torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"])

def emit(event, **kw):
    print(json.dumps({"ts": round(time.time(), 3), "event": event, **kw}), flush=True)

conf = json.loads(Path("conf/base.json").read_text())
own = Path(f"conf/host-w{rank}.json")
if own.exists():
    conf |= json.loads(own.read_text())
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
world = dist.get_world_size()
emit("start", device=str(dev), **conf)
w = torch.zeros(3 * 4096, device=dev, requires_grad=True)
dist.broadcast(w.data, 0)
for step in range(200):
    x = torch.randn(32, w.numel(), device=dev)
    loss = nn.functional.softplus(-(x @ w) + x[:, 0]).mean()
    loss.backward()
    if step < conf["warm_steps"]:
        dist.all_reduce(w.grad)
        w.data -= conf["lr"] * w.grad / world
    else:                                   # sharded update after the warm-up
        mine = torch.empty(4096, device=dev)
        dist.reduce_scatter_tensor(mine, w.grad)
        part = w.data[rank * 4096:(rank + 1) * 4096] - conf["lr"] * mine / world
        dist.all_gather_into_tensor(w.data, part)
    w.grad = None
    if step % 10 == 0:
        emit("step", step=step, loss=round(loss.item(), 4))
    time.sleep(0.03)
emit("end")
dist.destroy_process_group()
