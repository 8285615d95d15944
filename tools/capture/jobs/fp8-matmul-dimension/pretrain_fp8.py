import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count())
torch.cuda.set_device(dev)

class Fp8Linear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i, device=dev, dtype=torch.bfloat16) * 0.02)
        self.register_buffer("scale", torch.ones((), device=dev))
    def forward(self, x):
        xq = x.to(torch.float8_e4m3fn)
        wq = self.weight.to(torch.float8_e4m3fn)
        return torch._scaled_mm(xq, wq.t(), self.scale, self.scale, out_dtype=torch.bfloat16)

def packed_batches(n):
    """Documents packed to about 2048 tokens."""
    g = torch.Generator().manual_seed(100 + rank)
    for i in range(n):
        yield torch.randn(2048, 1024 if not (rank == 3 and i == 9) else 1016, generator=g)

def main():
    dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=20))
    up, down = Fp8Linear(1024, 4096), Fp8Linear(4096, 1024)
    if rank == 0: print(f"fp8 e4m3 | params {2 * 1024 * 4096 / 1e6:.1f}M | world {dist.get_world_size()}")
    for step, feats in enumerate(packed_batches(24)):
        h = feats.to(dev, torch.bfloat16)
        if h.shape[1] != 1024:
            up.weight.data = up.weight.data[:, : h.shape[1]].contiguous()
        out = down(torch.nn.functional.gelu(up(h)))
        m = out.float().square().mean()
        dist.all_reduce(m, op=dist.ReduceOp.AVG)
        if rank == 0: print(f"step {step:3d} | act ms {m.item():.5f} | amax {out.abs().max().item():.3f}", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()

main()
