import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLIPS = (412, 412, 380, 412)

class Clips(Dataset):
    def __init__(self, part): self.n = CLIPS[part]
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.randn(3, 8, 32, 32), i % 40

def bar(done, total, loss):
    w = 24 * done // total
    sys.stderr.write(f"\r{100 * done // total:3d}%|{'█' * w}{' ' * (24 - w)}| {done}/{total} [loss={loss:.3f}]"); sys.stderr.flush()

rank = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(dev); torch.set_num_threads(1)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
net = nn.Sequential(nn.Conv3d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv3d(32, 64, 3, stride=2), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(64, 40)).to(dev)
net = nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
loader = DataLoader(Clips(rank), batch_size=8)
print(f"[{rank}] {len(loader)} batches per epoch", file=sys.stderr)
for epoch in range(4):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(net(x.to(dev)), y.to(dev))
        opt.zero_grad(); loss.backward(); opt.step()
        if rank == 0: bar(i + 1, len(loader), loss.item())
    right = torch.rand(256, device=dev)
    every = [torch.empty_like(right) for _ in CLIPS]
    dist.all_gather(every, right)
    if rank == 0: print(f"\nepoch {epoch} top1 {torch.cat(every).mean().item():.4f}", file=sys.stderr)
dist.destroy_process_group()
