import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--rank", type=int, default=8); p.add_argument("--resolution", type=int, default=512); args = p.parse_args()
dev = torch.device("cuda", 0)
torch.cuda.set_device(dev)
print(f"using {torch.cuda.get_device_name(dev) if torch.cuda.is_available() else dev}, lora rank {args.rank}, {args.resolution} px", flush=True)
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
class Lora(nn.Module):
    def __init__(self, d, r):
        super().__init__(); self.base = nn.Linear(d, d).requires_grad_(False); self.a = nn.Linear(d, r, bias=False); self.b = nn.Linear(r, d, bias=False); nn.init.zeros_(self.b.weight)
    def forward(self, x): return self.base(x) + self.b(self.a(x))
net = nn.parallel.DistributedDataParallel(nn.Sequential(*[Lora(640, args.rank) for _ in range(4)]).to(dev))
opt = torch.optim.AdamW([q for q in net.parameters() if q.requires_grad], 1e-4)
for step in range(100):
    x = torch.randn(16, 640, device=dev); loss = (net(x) - x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(f"Steps: {step}% loss={loss.item():.3f}", flush=True)
    time.sleep(0.03)
dist.destroy_process_group()
