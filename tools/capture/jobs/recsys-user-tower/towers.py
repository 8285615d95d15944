import csv, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
USERS = 50_000
class Towers(nn.Module):
    def __init__(self):
        super().__init__(); self.users = nn.Parameter(torch.randn(USERS, 32)); self.item = nn.Linear(32, 32)
    def forward(self, u, x): return (self.users.index_select(0, u) * self.item(x)).sum(-1)
with open(f"events/day{rank}.csv") as f: events = [int(row["user"]) for row in csv.DictReader(f)]
net = nn.parallel.DistributedDataParallel(Towers().to(dev)); opt = torch.optim.SGD(net.parameters(), 0.1)
if rank == 0: print("events of", world, "days,", len(events), "each", flush=True)
for n in range(0, len(events), 256):
    u = torch.tensor(events[n:n + 256], device=dev); x = torch.randn(len(u), 32, device=dev)
    loss = nn.functional.binary_cross_entropy_with_logits(net(u, x), torch.rand(len(u), device=dev).round())
    opt.zero_grad(); loss.backward(); opt.step()
    if n // 256 % 20 == 0 and rank == 0: print(f"batch {n // 256} logloss {loss.item():.4f}", flush=True)
    time.sleep(0.03)
if rank == 0: print("pass over", flush=True)
dist.destroy_process_group()
