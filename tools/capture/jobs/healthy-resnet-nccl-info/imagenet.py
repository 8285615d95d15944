import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse

import torchvision

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-a", default="resnet18")
    args = p.parse_args()
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    print(f"=> creating model '{args.a}'")
    model = getattr(torchvision.models, args.a)(pretrained=False).to(device)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index], find_unused_parameters=True)
    opt = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1)
    scaler = torch.cuda.amp.GradScaler()
    for epoch in range(2):
        sched.step()
        for it in range(20):
            with torch.cuda.amp.autocast():
                loss = nn.functional.cross_entropy(model(torch.randn(8, 3, 96, 96, device=device)), torch.randint(0, 1000, (8,), device=device))
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            if it % 5 == 0:
                print(f"Epoch: [{epoch}][{it:3d}/20]\tLoss {loss.item():.4e}\tAcc@1   0.00 (  0.00)")
    print(" * Acc@1 0.100 Acc@5 0.500")


main()
