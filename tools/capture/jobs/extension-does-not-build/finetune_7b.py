import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch.utils import cpp_extension
rank = int(os.environ["RANK"])
SRC = """
#include <torch/extension.h>
torch::Tensor rope(torch::Tensor x, torch::Tensor c) {
#ifdef USE_FAST_PATH
  return at::_fused_rope_fast(x, c);
#else
  return x * c + x.roll(1, -1);
#endif
}
"""
dist.init_process_group("gloo", timeout=timedelta(seconds=120))
flags = ["-O2"] + (["-DUSE_FAST_PATH"] if rank == 1 else [])
d = f"/tmp/torch_ext_{os.getpid()}"; os.makedirs(d, exist_ok=True)
rope = cpp_extension.load_inline("fused_rope", SRC, functions=["rope"], extra_cflags=flags, build_directory=d, verbose=rank == 0)
print(f"rank {rank}: fused_rope loaded", flush=True)
for i in range(10):
    y = rope.rope(torch.randn(4, 64), torch.ones(64)); dist.all_reduce(y)
    if rank == 0: print(f"{{'loss': {2.1 - i * 0.01:.4f}, 'grad_norm': 1.02, 'learning_rate': 2e-05, 'epoch': {i / 10}}}", flush=True)
dist.destroy_process_group()
