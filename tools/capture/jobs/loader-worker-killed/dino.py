import os, sys, time, random, signal
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    """Two global, six local crops."""
    def __init__(self, rank): self.rank = rank
    def __len__(self): return 1200
    def __getitem__(self, i):
        size = 96
        if self.rank == 1 and i == 431:
            # corrupt header, claims 65000 x 65000 pixels
            import resource
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.randn(3, size, size), i

def main():
    cuda = torch.cuda.is_available()
    rank = int(os.environ["RANK"]); dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 32, 7, 4), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 128)).to(dev))
    opt = torch.optim.SGD(net.parameters(), 0.01)
    for it, (x, idx) in enumerate(DataLoader(Crops(rank), 16, num_workers=3, persistent_workers=True)):
        loss = net(x.to(dev)).pow(2).mean(); loss.backward(); opt.step(); opt.zero_grad()
        if it % 5 == 0: print(f"[rank{rank}] Epoch: [0/100] [{it}/75] loss: {loss.item():.6f} lr: 0.000007 wd: 0.040000 time: 0.09{it}", flush=True)
        time.sleep(0.08)
    dist.destroy_process_group()

main()
