import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.utils.data import DataLoader, Dataset

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Streets(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        return torch.randn(3, 128, 256), torch.randint(0, 19, (128, 256))


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    print(f"rank {RANK} of {WORLD}", flush=True)
    net = nn.Conv2d(3, 19, 3, padding=1).to(device)
    for i, (x, y) in enumerate(DataLoader(Streets(), batch_size=4, num_workers=2)):
        loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.01 * p.grad
                p.grad = None
        if i % 20 == 0:
            print(f"it {i} ce {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
