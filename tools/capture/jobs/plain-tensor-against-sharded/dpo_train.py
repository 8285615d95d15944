import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import copy

from torch.distributed.fsdp import fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(512, 512) for _ in range(4))
        self.head = nn.Linear(512, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x).squeeze(-1)


def drift(model, start):
    """How far the head moved from where it started."""
    return (model.head.weight.detach() - start["head.weight"]).norm().item()


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    torch.manual_seed(1)
    policy = Policy().to(device)
    start = copy.deepcopy(policy.state_dict())
    ref = Policy().to(device).requires_grad_(False)
    for layer in policy.layers:
        fully_shard(layer)
    fully_shard(policy)
    opt = torch.optim.AdamW(policy.parameters(), 5e-6)
    for step in range(1, 200):
        chosen, rejected = torch.randn(8, 512, device=device), torch.randn(8, 512, device=device)
        margin = policy(chosen) - policy(rejected) - (ref(chosen) - ref(rejected))
        loss = -nn.functional.logsigmoid(0.1 * margin).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            print(f"step {step} dpo loss {loss.item():.4f} margin {margin.mean().item():+.4f}")
        if RANK == 0 and step % 50 == 0:
            print(f"step {step} head drift {drift(policy, start):.6f}")
        time.sleep(0.05)
    dist.destroy_process_group()


main()
