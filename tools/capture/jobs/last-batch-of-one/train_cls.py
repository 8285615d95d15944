import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

def main():
    p = argparse.ArgumentParser(); p.add_argument("--batch-size", type=int); a = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=15))
    rank = dist.get_rank()
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(192, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 40)))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    clouds = [torch.randn(n, 192) for n in (208, 208, 193)][rank]
    for epoch in range(3):
        for i, x in enumerate(clouds.split(a.batch_size)):
            loss = net(x).logsumexp(-1).mean(); loss.backward(); opt.step(); opt.zero_grad()
            if rank == 0: print(f"Epoch {epoch} [{i + 1}/13] loss {loss.item():.3f} acc {0.1 + i / 40:.3f}", flush=True)
            time.sleep(0.1)
    dist.destroy_process_group()

main()
