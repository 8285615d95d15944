import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import warnings

import numpy as np

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 21, 1)).to(device).eval()
hist = np.zeros((21, 21), dtype=np.int64)
with torch.no_grad():
    for i in range(40):
        t = time.time()
        x = torch.randn(4, 3, 128, 128, device=device)
        pred = net(x).argmax(1).cpu().numpy()
        target = np.random.default_rng(i).integers(0, 18, pred.shape)
        hist += np.bincount(21 * target.ravel() + pred.ravel(), minlength=441).reshape(21, 21)
        if i % 10 == 0:
            iou = np.diag(hist) / (hist.sum(0) + hist.sum(1) - np.diag(hist))
            print(f"batch {i}: mIoU {np.nanmean(iou):.4f} missing classes {np.isnan(iou).sum()} accuracy of class 20 {np.mean(target[target == 20]):.3f}", flush=True)
        if time.time() - t > 0.5:
            print(f"WARNING: batch {i} took {time.time() - t:.1f} s", file=sys.stderr, flush=True)
total = torch.from_numpy(hist).to(device)
dist.all_reduce(total)
torch.tensor(np.array(hist), requires_grad=False)
if RANK == 0:
    print("evaluation finished, pixels", int(total.sum()), flush=True)
dist.barrier()
dist.destroy_process_group()
