import os
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 32)).to(dev))
opt = torch.optim.Adam(net.parameters())
for i in range(10):
    a = net(torch.randn(16, 64, device=dev)); b = net(torch.randn(16, 64, device=dev))
    loss = 1 - torch.cosine_similarity(a, b).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    print(f"rank {rank} step {i} loss {loss.item():.4f}", flush=True)
dist.destroy_process_group()
