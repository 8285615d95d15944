import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
def start(): dist.init_process_group("nccl", timeout=timedelta(seconds=12))

from torch.utils.data import DataLoader, Dataset
class Clips(Dataset):
    def __len__(self): return 640
    def __getitem__(self, i): return decode(i)

def decode(i):
    if rank == 1 and i == 333: os.kill(os.getpid(), 9)
    return torch.randn(3, 16, 32, 32)
if __name__ == "__main__":
    start()
    model = nn.parallel.DistributedDataParallel(nn.Conv3d(3, 16, 3).to(dev))
    opt = torch.optim.SGD(model.parameters(), 0.01)
    for step, x in enumerate(DataLoader(Clips(), batch_size=8, num_workers=3)):
        loss = model(x.to(dev)).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if step % 10 == 0: print(f"iter {step}/80 loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
