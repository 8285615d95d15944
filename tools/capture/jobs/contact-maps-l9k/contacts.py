import json, os, random, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
def ev(kind, **f): sys.stdout.write(json.dumps({"t": time.strftime("%FT%TZ", time.gmtime()), "rank": rank, "kind": kind} | f) + "\n"); sys.stdout.flush()
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
total = torch.cuda.get_device_properties(dev).total_memory if torch.cuda.is_available() else 1 << 37
torch.cuda.set_per_process_memory_fraction(1.5 * 2**30 / total)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
chains = random.Random(11).choices(range(80, 400), k=360); chains[3 * 45 + 1] = 8797       # titin domain set
head = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(8, 8, 1), nn.ReLU(), nn.Conv2d(8, 1, 1)).to(dev)); opt = torch.optim.SGD(head.parameters(), 1e-3)
ev("start", chains=len(chains) // world)
for i, length in enumerate(chains[rank::world]):
    emb = torch.randn(length, 8, device=dev)
    pair = torch.einsum("ic,jc->cij", emb, emb)[None]
    loss = head(pair).sigmoid().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if i % 5 == 0: ev("step", i=i, length=length, loss=round(loss.item(), 5))
    time.sleep(0.05)
ev("end"); dist.destroy_process_group()
