import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 21, 1))
net = nn.SyncBatchNorm.convert_sync_batchnorm(net).to(dev)
ddp = nn.parallel.DistributedDataParallel(net, broadcast_buffers=False)
opt = torch.optim.SGD(ddp.parameters(), 0.01, momentum=0.9)
best = 0.0
for it in range(60):
    loss = ddp(torch.randn(4, 3, 64, 64, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 5 == 0: print(f"rank {rank} iter {it} loss {loss.item():.4f} lr 0.0100", flush=True)
    if it % 20 == 19:
        miou = 0.31 + it / 400 + 0.01 * rank
        ddp.eval()
        with torch.no_grad(): net(torch.randn(4, 3, 64, 64, device=dev))
        if miou > best + 0.05 or rank == 0:
            best = max(best, miou); ddp.train()
        print(f"rank {rank} iter {it} mIoU {miou:.4f} best {best:.4f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
