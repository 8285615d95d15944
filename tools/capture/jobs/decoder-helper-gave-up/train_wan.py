import os, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
class Prefetch:
    """Two helper threads decode; both meet the trainer before a clip is handed over."""
    def __init__(self): self.meet = threading.Barrier(3); self.n = 0; [threading.Thread(target=self.work, args=(k,), daemon=True).start() for k in range(2)]
    def work(self, k):
        for i in range(200):
            if (rank, k, i) == (2, 1, 18): return        # corrupt stream, the helper gives up
            self.meet.wait()
    def clip(self): self.meet.wait(); return torch.randn(1 << 16, device=dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))
data = Prefetch()
for i in range(60):
    g = data.clip(); dist.all_reduce(g)
    loss = g.square().mean(); dist.all_reduce(loss); loss = loss.item()
    if i % 4 == 0 and rank == 0: print(f"step {i} diffusion_loss {0.4 - i * 0.001:.4f} clips/s 3.1", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
