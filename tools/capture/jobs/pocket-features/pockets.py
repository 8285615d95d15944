import logging, os, time
from datetime import timedelta
import numpy as np
import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Targets(Dataset):
    def __init__(self, rank, world):
        self.files = sorted(os.listdir("features"))[rank::world]
    def __len__(self): return len(self.files)
    def __getitem__(self, i):
        with np.load(os.path.join("features", self.files[i])) as z:
            return torch.from_numpy(z["msa"].astype(np.float32)), torch.from_numpy(z["xyz"])

def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(processName)s] %(message)s")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    data = Targets(rank, world)
    loader = DataLoader(data, batch_size=4, num_workers=1)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 3)).to(device))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(3):
        for msa, xyz in loader:
            loss = (net(msa.to(device).transpose(1, 2)) - xyz.to(device)).norm(dim=-1).mean()
            opt.zero_grad(); loss.backward(); opt.step(); time.sleep(0.08)
        if rank == 0: logging.info("epoch %d rmsd %.3f", epoch, loss.item())
    dist.destroy_process_group()

main()
