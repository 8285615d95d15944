import os, logging
import torch, torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint
logging.basicConfig(level=logging.INFO, format="%(levelname)s - %(asctime)s - %(message)s")

class Tower(nn.Module):
    def __init__(self, d=384):
        super().__init__()
        self.text, self.shared, self.image = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
    def forward(self, t, v):
        t = checkpoint(self.shared, torch.relu(self.text(t)), use_reentrant=True)
        v = checkpoint(self.shared, torch.relu(self.image(v)), use_reentrant=True)
        return (t * v).sum(-1).mean()

def main():
    cuda = torch.cuda.is_available()
    lr = int(os.environ["LOCAL_RANK"])
    dev = torch.device(f"cuda:{lr}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo")
    model = nn.parallel.DistributedDataParallel(Tower().to(dev), find_unused_parameters=True)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    if dist.get_rank() == 0: logging.info("model built, %d parameters", sum(p.numel() for p in model.parameters()))
    for step in range(10):
        loss = model(torch.randn(8, 384, device=dev), torch.randn(8, 384, device=dev))
        loss.backward(); opt.step(); opt.zero_grad()
        if dist.get_rank() == 0: logging.info("step %d itc %.4f", step, loss.item())
    dist.destroy_process_group()

main()
