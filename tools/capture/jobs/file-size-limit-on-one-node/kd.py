import os, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank(); os.makedirs(f"snap/r{rank}", exist_ok=True)
state = {"w": torch.zeros(300_000)}
hist = []
for it in range(40):
    g = torch.randn(300_000) * 0.01; dist.all_reduce(g); state["w"] -= g; hist.append(state["w"].numpy().copy())
    if it % 4 == 0: print(f"it {it} kd {1.9 - it * 0.01:.3f} acc {40 + it * 0.4:.1f}", flush=True)
    if it % 8 == 7:
        open(f"snap/r{rank}/history_{it}.f32", "wb").write(np.stack(hist[-12:]).tobytes()); print(f"it {it} wrote history of {len(hist[-12:])} steps", flush=True)
        dist.barrier()
    time.sleep(0.1)
dist.destroy_process_group()
