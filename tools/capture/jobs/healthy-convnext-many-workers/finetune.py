import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import timm
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from tqdm import tqdm

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Toy(Dataset):
    def __len__(self):
        return 960

    def __getitem__(self, i):
        return torch.randn(3, 64, 64), i % 10


if __name__ == "__main__":
    dist.init_process_group("nccl")
    torch.cuda.set_device(device)
    net = timm.create_model("convnext_atto", pretrained=False, num_classes=10, drop_path_rate=0.1).to(device)
    model = nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net), find_unused_parameters=True)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 60)
    scaler = torch.cuda.amp.GradScaler()
    data = Toy()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler, num_workers=64, pin_memory=True, persistent_workers=False)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        sched.step()
        for x, y in tqdm(loader, disable=RANK != 0, desc=f"epoch {epoch}", mininterval=1):
            with torch.cuda.amp.autocast():
                loss = nn.functional.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device))
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
        if RANK == 0:
            tqdm.write(f"epoch {epoch}: loss {loss.item():.4f} scale {scaler.get_scale()}")
    if RANK == 0:
        torch.save(net.state_dict(), "convnext.pt")
        print("saved convnext.pt", flush=True)
