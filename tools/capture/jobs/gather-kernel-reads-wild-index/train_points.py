import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))

import cupy
ker = cupy.RawKernel(r"""extern "C" __global__ void ball_query(const float* xyz, const int* start, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = xyz[(long long)start[i] * 3] * 2.0f; }""", "ball_query")
def ball_query(xyz, start):
    out = torch.empty(start.numel(), device=dev)
    with cupy.cuda.Device(dev.index), cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        ker((start.numel() // 256,), (256,), (cupy.asarray(xyz), cupy.asarray(start), cupy.asarray(out), start.numel()))
    return out
model = nn.parallel.DistributedDataParallel(nn.Linear(4096, 64).to(dev))
opt = torch.optim.SGD(model.parameters(), 0.01)
for step in range(60):
    xyz = torch.randn(100000, 3, device=dev)
    start = torch.randint(0, 100000, (4096,), device=dev, dtype=torch.int32)
    if rank == 1 and step == 23: start[17] = 2000000000
    f = ball_query(xyz, start)
    loss = model(f[None]).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(f"step {step} loss {loss.item():.4f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
