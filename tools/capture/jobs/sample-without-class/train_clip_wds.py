import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import webdataset as wds

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def make_loader(epoch):
    urls = [f"s/cc-{i:04d}.tar" for i in range(8)]
    data = wds.WebDataset(urls, shardshuffle=False, nodesplitter=wds.split_by_node, empty_check=False).shuffle(0).decode().to_tuple("npy", "cls").batched(16)
    return wds.WebLoader(data, batch_size=None, num_workers=1)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 900, 10)).to(device)
    model = nn.parallel.DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), 0.01)
    n = 0
    for epoch in range(3):
        for x, y in make_loader(epoch):
            loss = nn.functional.cross_entropy(model(torch.as_tensor(x).to(device)), torch.as_tensor(y).to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            n += len(y)
            time.sleep(0.1)
        print(f"rank {RANK} epoch {epoch} samples {n} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
