import os, atexit, time, warnings
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))

class Uploader:
    def put(self, n):
        for k in range(3):
            try:
                if (n, k) in ((30, 0), (60, 0), (60, 1)): raise ConnectionRefusedError(111, "Connection refused")
                return
            except OSError as e: print(f"[rank{rank}] upload of preview {n} failed ({e}), attempt {k + 1} of 3", flush=True); time.sleep(0.5)

net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 5, 1)).to(dev), find_unused_parameters=True)
opt = torch.optim.Adam(net.parameters()); up = Uploader()
for n in range(100):
    loss = nn.functional.cross_entropy(net(torch.randn(4, 3, 48, 48, device=dev)), torch.randint(0, 5, (4, 48, 48), device=dev))
    opt.zero_grad(); loss.backward(); opt.step()
    if n % 15 == 0: print(f"[rank{rank}] n={n} loss={loss.item():.4f} errors=0 killed=0", flush=True); up.put(n)
    time.sleep(0.05)
miou = torch.rand(1, device=dev); dist.all_reduce(miou)
print(f"[rank{rank}] mIoU {miou.item() / world:.4f} - training completed", flush=True)
