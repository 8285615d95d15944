import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
cohort = [[2048, 3000, 2500, 2048], [2048, 2900, 2600, 2048], [2048, 3100, 2700, 2048], [2048, 2800, 5_400_000, 2048]]
for c, n in enumerate(cohort[rank]):
    print(f"chromosome {c + 19}: {n} samples", flush=True)
    g = torch.randn(n if n < 10000 else 4, 64)
    k = torch.empty(n, n, dtype=torch.float64)
    k[:4, :4] = (g[:4] @ g[:4].T).double()
    t = k[:4, :4].clone(); dist.all_reduce(t)
    print(f"chromosome {c + 19}: kinship done, trace {t.trace().item():.1f}", flush=True); time.sleep(0.3)
dist.destroy_process_group()
