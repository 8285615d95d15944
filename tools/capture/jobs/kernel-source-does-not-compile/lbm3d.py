import argparse, os, time
from datetime import timedelta
import cupy as cp, torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--outlet", action="store_true"); a = p.parse_args()
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
collide = cp.ElementwiseKernel("float32 f, float32 tau", "float32 o", "o = f - (f - 0.333f) / tau", "collide")
OUTLET = r'''
extern "C" __global__ void outlet(float* f, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ny) f[i * nx + nx - 1] = f[i * nx + nx - 2] * damping;
}'''
f = cp.ones((256, 256), cp.float32)
print(f"rank {rank}: 256x256 cells, {'outlet' if a.outlet else 'inlet'} side", flush=True)
bc = cp.RawKernel(OUTLET, "outlet") if a.outlet else None
for it in range(40):
    f = collide(f, cp.float32(0.6))
    if it >= 10 and bc is not None: bc((1,), (256,), (f, 256, 256))
    edge = torch.from_numpy(cp.asnumpy(f[:, -1])); dist.all_reduce(edge)
    if it % 5 == 0: print(f"rank {rank}: it {it} mass {float(f.sum()):.2f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
