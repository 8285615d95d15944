import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)
print("env", {k: v for k, v in sorted(os.environ.items()) if k.startswith(("NCCL_", "CUDA_VIS", "RANK", "WORLD"))}, flush=True)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv3d(1, 16, 3), nn.ReLU(), nn.Conv3d(16, 64, 3), nn.ReLU(), nn.Conv3d(64, 2, 1)).to(dev))
opt = torch.optim.Adam(net.parameters())
for it in range(30):
    loss = net(torch.randn(1, 1, 24, 24, 24, device=dev)).square().mean()
    loss.backward(); opt.step(); opt.zero_grad()
    print(f"[{rank}] it {it} dice {1 - loss.item() / 9:.4f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
print("done")
