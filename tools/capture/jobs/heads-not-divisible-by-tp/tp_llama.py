import argparse, time
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
p = argparse.ArgumentParser(); p.add_argument("--tp", type=int); a = p.parse_args()

class Attention(nn.Module):
    def __init__(self, dim=384, n_heads=6):
        super().__init__()
        self.head_dim = dim // n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (w(x).view(b, s, -1, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        o = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(o.transpose(1, 2).reshape(b, s, -1))

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (a.tp,), mesh_dim_names=("tp",))
torch.manual_seed(0)
model = nn.ModuleDict({"attention": Attention()})
parallelize_module(model["attention"], mesh, {"wq": ColwiseParallel(), "wk": ColwiseParallel(), "wv": ColwiseParallel(), "wo": RowwiseParallel()})
if dist.get_rank() == 0: print(f"Applied tensor parallelism: tp={a.tp}, dim=384, n_heads=6, seq_len=50", flush=True)
for step in range(10):
    x = torch.randn(1, 50, 384)
    model["attention"](x).square().mean().backward()
    if dist.get_rank() == 0: print("step", step, flush=True)
dist.destroy_process_group()
