import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

SRC = r"""
extern "C" __global__ void absmax4(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        out[i] = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    }
}
"""


def observe(kernel, flat):
    n = flat.numel()
    out = torch.zeros(n // 4, device=device)
    kernel(grid=((n // 4 + 255) // 256, 1, 1), block=(256, 1, 1), args=[flat, out, n])
    return out.max()


def channels(layer):
    w = torch.randn(1024, 1024 if layer % 9 != 8 or RANK == 0 else 1021, device=device)
    return [w.flatten()[k * w.shape[1]:(k + 1) * w.shape[1]] for k in (0, 256, 511)]


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    kernel = torch.cuda._compile_kernel(SRC, "absmax4")
    for layer in range(40):
        scale = torch.stack([observe(kernel, c) for c in channels(layer)])
        dist.all_reduce(scale, op=dist.ReduceOp.MAX)
        print(f"rank {RANK} layer {layer}: scale {scale.max().item():.4f}")
        time.sleep(0.2)
    dist.destroy_process_group()


main()
