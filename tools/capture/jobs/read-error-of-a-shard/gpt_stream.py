import os, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist

class TokenStream:
    def __init__(self, rank, n=3): self.files = [f"tokens/shard_{rank * n + k}.bin" for k in range(n)]; self.f = None; self.left = 0
    def batch(self, n=16384):
        if self.f is None or self.left <= 0:
            name = self.files.pop(0); self.files.append(name)
            self.f = open(name, "rb", buffering=0); self.left = 400000 // (2 * n)
        self.left -= 1
        return np.frombuffer(self.f.read(2 * n), np.uint16)

dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank(); data = TokenStream(rank)
if rank == 0: print("number of parameters: 123.59M\nnum decayed parameter tensors: 50, with 124,354,560 parameters", flush=True)
for it in range(60):
    x = torch.from_numpy(data.batch().astype(np.float32))
    g = torch.stack([x.mean(), x.std()]); dist.all_reduce(g)
    if rank == 0 and it % 5 == 0: print(f"iter {it}: loss {10.9 - it * 0.05:.4f}, time 118.32ms, mfu 31.2%", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
