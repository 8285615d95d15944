import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

rank, world, lr = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
cuda = torch.cuda.is_available()
dev = torch.device(f"cuda:{lr % torch.cuda.device_count()}" if cuda else "cpu")

class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(256, 256), nn.Linear(256, 172)
    def forward(self, x, nbr):
        h = F.relu(self.a(x + x[nbr].mean(1)))
        return self.b(h)

def seeds_of(part):
    """Training nodes of a METIS part."""
    sizes = (6144, 6100, 5210, 6130)
    return torch.arange(sizes[part])

def main():
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    seeds = seeds_of(rank)
    print(f"[part {rank}] {len(seeds)} train nodes, {-(-len(seeds) // 256)} batches of 256", flush=True)
    model = DistributedDataParallel(Sage().to(dev))
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(3):
        t = time.time()
        for i, batch in enumerate(seeds.split(256)):
            x = torch.randn(len(batch), 256, device=dev)
            nbr = torch.randint(0, len(batch), (len(batch), 15), device=dev)
            y = torch.randint(0, 172, (len(batch),), device=dev)
            loss = F.cross_entropy(model(x, nbr), y)
            opt.zero_grad(set_to_none=True); loss.backward(); opt.step()
            time.sleep(0.05)
            if i % 5 == 0:
                print(f"[part {rank}] epoch {epoch} batch {i} loss {loss.item():.4f}", flush=True)
        print(f"[part {rank}] epoch {epoch} done in {time.time() - t:.1f}s", flush=True)
        acc = torch.rand(1, device=dev)
        dist.all_reduce(acc)
        if rank == 0: print(f"epoch {epoch} val acc {acc.item() / world:.4f}", flush=True)
    dist.destroy_process_group()

main()
