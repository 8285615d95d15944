import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.utils.data import DataLoader, Dataset, DistributedSampler

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Tiles(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, i):
        w = 96 if i == 1234 else 128
        x = torch.rand(3, 128, w, generator=torch.Generator().manual_seed(i))
        return nn.functional.avg_pool2d(x, 4), x


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.Sequential(nn.Conv2d(3, 48, 3, padding=1), nn.PixelShuffle(4))
    model = nn.parallel.DistributedDataParallel(net.to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    data = Tiles()
    sampler = DistributedSampler(data, shuffle=False)
    for epoch in range(2):
        for i, (low, high) in enumerate(DataLoader(data, batch_size=16, sampler=sampler, num_workers=2)):
            loss = (model(low.to(device)) - high.to(device)).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.1)
            if i % 10 == 0:
                print(f"epoch {epoch} [{i}/{len(sampler) // 16}] l1 {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
