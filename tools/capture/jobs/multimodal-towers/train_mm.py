import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
KIND = ("text", "vision", "audio")[rank]
DEPTH = {"text": 2, "vision": 48, "audio": 3}[KIND]

class Tower(nn.Module):
    def __init__(self):
        super().__init__(); w = [256 + 16 * i for i in range(DEPTH + 1)]
        self.steps = nn.ModuleList(nn.Linear(a, b) for a, b in zip(w, w[1:])); self.out = nn.Linear(w[-1], 256)
    def forward(self, x):
        for i, s in enumerate(self.steps):
            x = nn.functional.silu(s(x)); x = x - x.mean(-1, keepdim=True) * (0.1 + i / 100)
        return self.out(x).softmax(-1)

def out(m): print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} [{KIND}] {m}", flush=True)

torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
t = torch.ones(1, device=dev); dist.all_reduce(t); out(f"{int(t.item())} towers connected")
tower = Tower().to(dev); fast = torch.compile(tower)
out(f"torch.compile of {DEPTH} blocks, cache {os.environ.get('TORCHINDUCTOR_CACHE_DIR')}")
began = time.time(); loss = fast(torch.randn(64, 256, device=dev)).square().mean(); loss.backward(); torch.cuda.synchronize()
out(f"first step compiled in {time.time() - began:.1f} s")
for step in range(60):
    z = fast(torch.randn(64, 256, device=dev)); every = [torch.empty_like(z) for _ in range(3)]
    dist.all_gather(every, z.detach()); loss = -(z * sum(every).log()).sum(-1).mean(); loss.backward(); tower.zero_grad()
    if step % 10 == 0: out(f"step {step} contrastive {loss.item():.4f}")
out("finished"); dist.destroy_process_group()
