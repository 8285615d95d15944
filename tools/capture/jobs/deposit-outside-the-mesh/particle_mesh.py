import os, time
from datetime import timedelta
import cupy as cp
import torch, torch.distributed as dist

deposit = cp.RawKernel(r"""
extern "C" __global__ void deposit(const float* pos, const long long* cell, float* mesh, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&mesh[cell[i] + (long long)(pos[i] * 8)], 1.0f);
}""", "deposit")

def main():
    rank = int(os.environ["RANK"]); torch.cuda.set_device(rank); cp.cuda.Device(rank).use()
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    n = 1 << 18
    for step in range(60):
        pos = torch.rand(n, device="cuda"); cell = torch.randint(0, 1 << 16, (n,), device="cuda"); mesh = torch.zeros((1 << 16) + 8, device="cuda")
        if rank == 0 and step == 33:
            cell = cell + (torch.arange(n, device="cuda") == n - 1) * (1 << 42)
        deposit((n // 256,), (256,), (cp.from_dlpack(pos), cp.from_dlpack(cell), cp.from_dlpack(mesh), cp.int32(n)))
        dist.all_reduce(mesh)
        if step % 4 == 0: print(f"rank {rank} step {step} mass {mesh.sum().item():.0f} max {mesh.max().item():.0f}", flush=True)
        time.sleep(0.05)
    dist.destroy_process_group()

main()
