import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

RANK = int(os.environ["RANK"]); WORLD = int(os.environ["WORLD_SIZE"])
class Tiles(Dataset):
    def __len__(self): return 2400
    def __getitem__(self, i):
        if i % 1200 == 7: open(f"pids/{RANK}.{get_worker_info().id}", "w").write(str(os.getpid()))
        time.sleep(0.01)
        return torch.randn(4, 64, 64), torch.randint(0, 6, (64, 64))

def main():
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(4, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 6, 3, padding=1)).to(dev))
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for n, (x, y) in enumerate(DataLoader(Tiles(), batch_size=8, num_workers=2)):
        loss = nn.functional.cross_entropy(net(x.to(dev)), y.to(dev)); opt.zero_grad(); loss.backward(); opt.step()
        if n % 20 == 0: print(f"{time.strftime('%d.%m. %H:%M:%S')} Prozess {RANK} Kachelstapel {n}/300 Verlust {loss.item():.4f}", flush=True)
        if n == 100: open(f"pids/{RANK}.n100", "w").write("x")
    dist.destroy_process_group()

if __name__ == "__main__": main()
