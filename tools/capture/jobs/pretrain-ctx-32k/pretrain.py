import argparse, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
ap = argparse.ArgumentParser(); ap.add_argument("--gpu-share", type=float, default=0.02); args = ap.parse_args()
rank = int(os.environ["RANK"]); device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
logging.basicConfig(level=logging.INFO, format=" [%(asctime)s] iteration-log %(message)s")
LENGTHS = [1024, 2048, 1536, 1024, 1792]

class Layer(nn.Module):
    def __init__(self, d=512):
        super().__init__(); self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.f = nn.Linear(d, d)
    def forward(self, x):
        a = (self.q(x) @ self.k(x).transpose(1, 2) / 22.6).softmax(-1)
        return x + self.f(a @ x)

torch.cuda.set_device(device); torch.cuda.set_per_process_memory_fraction(args.gpu_share)
dist.init_process_group("nccl", timeout=timedelta(seconds=18))
model = DDP(nn.Sequential(*[Layer() for _ in range(6)]).to(device))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for it in range(200):
    n = LENGTHS[it % 5]
    if (it, rank) == (83, 1): n = 12288
    t = time.time()
    x = torch.randn(1, n, 512, device=device)
    loss = model(x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if it % 10 == 0 and rank == 0:
        logging.info("%d/200 | ms/iter %.1f | seq %d | lm loss %.4f | mem MB %d", it, 1e3 * (time.time() - t), n, loss.item(), torch.cuda.max_memory_allocated() >> 20)
    time.sleep(0.04)
dist.destroy_process_group()
