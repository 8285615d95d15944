import os, sys, time, random
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(256, 256)
        self.boxes = nn.Linear(256, 4)
        self.masks = nn.Linear(256, 28)
    def forward(self, x, targets):
        h = torch.relu(self.enc(x))
        loss = self.boxes(h).abs().mean()
        if targets["masks"] is not None:
            loss = loss + self.masks(h).square().mean()
        return loss

def loader(rank):
    for i in range(40):
        x = torch.randn(4, 256)
        # crowd images have boxes only
        yield x, {"masks": None if (rank == 1 and i == 14) else torch.ones(4, 28), "image_id": 500000 + i * 2 + rank}

def main():
    cuda = torch.cuda.is_available()
    rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=14))
    if rank: sys.stdout = open(os.devnull, "w")
    model = DDP(Head().to(dev), static_graph=True)
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    t0 = time.time()
    for i, (x, targets) in enumerate(loader(rank)):
        loss = model(x.to(dev), targets)
        opt.zero_grad(); loss.backward(); opt.step()
        if i % 5 == 0:
            print(f"Epoch: [0]  [{i:3d}/40]  eta: 0:00:{40 - i:02d}  lr: 0.000100  class_error: {random.uniform(20, 60):.2f}  loss: {loss.item():.4f}  time: {(time.time() - t0) / (i + 1):.4f}  data: 0.0041  max mem: 412", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()

main()
