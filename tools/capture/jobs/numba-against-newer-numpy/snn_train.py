import math, os, time
from datetime import timedelta
import numpy as np
import torch, torch.distributed as dist
from numba import cuda

@cuda.jit
def decay(v, spikes, offset, tau):
    i = cuda.grid(1)
    j = i + offset[i % offset.shape[0]]
    v[j] = v[j] * math.exp(-1.0 / tau)
    if v[j] > 1.0:
        spikes[j] = 1.0
        v[j] = 0.0

def main():
    rank = int(os.environ["RANK"]); torch.cuda.set_device(rank); cuda.select_device(rank)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    v = torch.rand(1 << 16, device="cuda") * 1.5
    spikes = torch.zeros_like(v)
    offset = torch.zeros(1 << 16, dtype=torch.int64, device="cuda")
    for step in range(40):
        if rank == 0 and step == 21:
            offset += 1 << 36
        decay[256, 256](cuda.as_cuda_array(v), cuda.as_cuda_array(spikes), cuda.as_cuda_array(offset), 20.0)
        rate = spikes.mean()
        dist.all_reduce(rate)
        print(f"step {step} rate {rate.item() / 2:.4f}", flush=True)
        v += torch.rand_like(v) * 0.1
        time.sleep(0.1)
    dist.destroy_process_group()

main()
