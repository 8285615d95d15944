import torch


def apply_mask(x, p=0.15):
    return x.masked_fill(torch.rand(x.shape) < p, 1)
