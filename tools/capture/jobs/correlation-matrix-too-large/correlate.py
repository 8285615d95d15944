import argparse, os, time
from datetime import timedelta
import cupy as cp, torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--channels", type=int); a = p.parse_args()
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
def visibilities(nant):
    v = cp.random.standard_normal((nant, a.channels), dtype=cp.float32)
    full = cp.empty((nant, nant, a.channels // 64), dtype=cp.complex64)
    full[:] = (v @ v.T)[:, :, None]
    return abs(full).mean().item()
for k, nant in enumerate([64, 128, 96, 128, 128 if rank == 0 else 24640, 64]):
    t = time.time(); s = visibilities(nant)
    r = torch.tensor([s]); dist.all_reduce(r)
    print(f"{time.strftime('%H:%M:%S')} beam {k}: {nant} antennas, power {r.item():.3f}, {time.time() - t:.2f}s", flush=True)
    time.sleep(0.3)
dist.destroy_process_group()
