import os, time, json
from datetime import timedelta, datetime
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
def p(m): print(f"{datetime.now():%H:%M:%S.%f} alpha[{rank}] {m}", flush=True)
def run_tag(): return open(os.environ["TAG_FILE"]).read().strip()
store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), world, rank == 0, timeout=timedelta(seconds=20))
dist.init_process_group("nccl", store=store, rank=rank, world_size=world, timeout=timedelta(seconds=25))
x = torch.ones(1, device=dev); dist.all_reduce(x); p(f"{int(x.item())} of {world} here")
net = nn.parallel.DistributedDataParallel(nn.Linear(120, 1).to(dev)); opt = torch.optim.Adam(net.parameters())
for year in range(2012, 2020):
    tag = run_tag()
    if rank == 0:
        universe = list(range(500 - year % 7)); store.set(f"{tag}/universe/{year}", json.dumps(universe))
    names = json.loads(store.get(f"{tag}/universe/{year}"))
    for week in range(52):
        loss = (net(torch.randn(len(names), 120, device=dev)) - 0.1).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    p(f"{tag} year {year} names {len(names)} mse {loss.item():.5f}")
    time.sleep(0.5)
dist.destroy_process_group()
