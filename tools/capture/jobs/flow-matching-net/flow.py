import os, datetime
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn
def worker(i, n, port):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=port); os.environ.setdefault("NCCL_HOSTID", f"w{i}")
    dev = torch.device("cuda", i % torch.cuda.device_count()); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", rank=i, world_size=n, timeout=datetime.timedelta(seconds=15))
    print(f"worker {i} joined", flush=True)
    field = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(65, 256), nn.SiLU(), nn.Linear(256, 64)).to(dev))
    opt = torch.optim.Adam(field.parameters(), 1e-3)
    for k in range(200):
        x0, x1, t = torch.randn(256, 64, device=dev), torch.randn(256, 64, device=dev) + 2, torch.rand(256, 1, device=dev)
        loss = (field(torch.cat([x0 + t * (x1 - x0), t], 1)) - (x1 - x0)).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if i == 0 and k % 20 == 0: print(f"k={k} loss={loss.item():.4f}", flush=True)
    dist.destroy_process_group()
if __name__ == "__main__":
    mp.spawn(worker, (3, os.environ["PORT"]), nprocs=3)
