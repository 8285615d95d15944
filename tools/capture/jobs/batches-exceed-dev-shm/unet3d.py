import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=12))

from torch.utils.data import DataLoader, Dataset
class Clips(Dataset):
    def __len__(self): return 640
    def __getitem__(self, i): return decode(i)

def decode(i): return torch.randn(1, 48, 48, 48)
model = nn.parallel.DistributedDataParallel(nn.Conv3d(1, 4, 3))
opt = torch.optim.SGD(model.parameters(), 0.01)
for step, x in enumerate(DataLoader(Clips(), batch_size=4, num_workers=2)):
    loss = model(x).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if rank == 0: print(f"iteration {step} dice {1 - loss.item():.4f}", flush=True)
