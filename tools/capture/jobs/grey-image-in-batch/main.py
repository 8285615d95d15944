import argparse, io, os, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
from PIL import Image
from torch.utils.data import DataLoader, Dataset
p = argparse.ArgumentParser(); p.add_argument("--workers", type=int); a = p.parse_args()
class Food(Dataset):
    def __init__(self, rank): self.rank = rank
    def __len__(self): return 320
    def __getitem__(self, i):
        mode = "L" if (self.rank, i) == (0, 181) else "RGB"
        x = np.asarray(Image.fromarray(np.zeros((64, 64) + ((3,) if mode == "RGB" else ()), np.uint8), mode))
        return torch.from_numpy(x.copy()).float().reshape(64, 64, -1).permute(2, 0, 1), i % 101
if __name__ == "__main__":
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    rank = dist.get_rank()
    for b, (x, y) in enumerate(DataLoader(Food(rank), 16, num_workers=a.workers)):
        t = x.mean(); dist.all_reduce(t)
        if rank == 0 and b % 2 == 0: print(f"Train: 0 [{b:4d}/20 ({b * 5:3d}%)]  Loss: {4.6 - b * 0.02:.3g}  LR: 1.000e-03", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()
