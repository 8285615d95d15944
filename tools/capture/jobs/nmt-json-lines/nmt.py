import json, os, sys, time
from datetime import timedelta, datetime
import torch, torch.distributed as dist
from torch import nn
env = os.environ
rank, world = int(env["RANK"]), int(env["WORLD_SIZE"])
dev = torch.device("cuda", int(env["LOCAL_RANK"]) % torch.cuda.device_count())
def event(name, **more):
    sys.stdout.write(json.dumps({"ts": datetime.utcnow().isoformat() + "Z", "event": name, "host": os.uname().nodename, "worker": rank, **more}) + "\n"); sys.stdout.flush()
torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
os.makedirs("run", exist_ok=True); open(f"run/{rank}.pid", "w").write(str(os.getpid()))
m = nn.parallel.DistributedDataParallel(nn.Transformer(128, 4, 2, 2, 256, 0.0, batch_first=True).to(dev))
o = torch.optim.Adam(m.parameters(), 1e-4)
event("ready", world=world)
for step in range(400):
    s, t = torch.randn(16, 20, 128, device=dev), torch.randn(16, 18, 128, device=dev)
    l = (m(s, t) - t).abs().mean(); o.zero_grad(); l.backward(); o.step()
    if step % 10 == 0: event("step", n=step, loss=round(l.item(), 4), tokens_per_s=round(16 * 38 * world / 0.11))
    if step == 60 and rank == 3: open("run/warm", "w").write("1")
    time.sleep(0.08)
event("finished")
dist.destroy_process_group()
