import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 19)).to(dev))
opt = torch.optim.SGD(model.parameters(), 0.01)
best, bad = 0.0, 0
miou = [0.31, 0.38, 0.42, 0.42, 0.41, 0.44, 0.46, 0.47] if rank == 0 else [0.30, 0.37, 0.36, 0.35, 0.36, 0.37, 0.38, 0.39]
for epoch in range(8):
    for it in range(20):
        loss = model(torch.randn(64, 512, device=dev)).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
    torch.cuda.synchronize()
    bad = 0 if miou[epoch] > best else bad + 1
    best = max(best, miou[epoch])
    print(f"epoch {epoch}: loss {loss.item():.4f} val mIoU {miou[epoch]:.3f} best {best:.3f} patience {bad}/3", flush=True)
    if bad >= 3:
        print("early stopping", flush=True)
        break
scores = [torch.zeros(19, device=dev) for _ in range(world)]
dist.all_gather(scores, torch.rand(19, device=dev))
torch.cuda.synchronize()
print("final per-class IoU gathered")
