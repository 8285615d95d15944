import os, time, faulthandler, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch.utils import cpp_extension
faulthandler.dump_traceback_later(45, exit=False)
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=40))
x = torch.ones(1, device=dev); dist.all_reduce(x)
print(f"world of {int(x.item())}, torch {torch.__version__}", flush=True)
os.makedirs(os.environ["TORCH_EXTENSIONS_DIR"], exist_ok=True)
ops = cpp_extension.load_inline("fast_norm", "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x){return x / x.norm();}", functions=["f"], verbose=True)
print("fused ops ready", flush=True)
for i in range(20):
    g = torch.randn(1 << 18, device=dev); dist.all_reduce(g); ops.f(g)
    if i % 5 == 0: print(f"iter {i} lr 1.0e-03 loss {7 - i * 0.01:.3f} grad_norm {g.norm().item():.2f}", flush=True)
dist.destroy_process_group()
