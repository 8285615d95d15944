"""What the jobs share: set-up, a small model, a training step. No faults in here."""

from __future__ import annotations

import logging
import os
import time
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))
LOCAL_RANK = int(os.environ.get("LOCAL_RANK", "0"))
ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
CUDA = torch.cuda.is_available()
SHARED = CUDA and bool(os.environ.get("SHARED_GPUS"))
"""More ranks than GPUs: rank by rank they go around."""
DEVICE = torch.device("cpu")
if CUDA:
    DEVICE = torch.device("cuda", LOCAL_RANK % torch.cuda.device_count() if SHARED else LOCAL_RANK)
SCRATCH = os.environ.get("CAPTURE_SCRATCH", "/tmp")

Model = TypeVar("Model", bound=nn.Module)

logger = logging.getLogger("trainer")


def logging_setup(level: int = logging.INFO) -> None:
    logging.basicConfig(level=level, format="%(asctime)s | %(levelname)s | %(name)s | %(message)s")


def init(seconds: float = 15, eager: bool = False, backend: str | None = None) -> None:
    """Join the default process group with a short timeout."""
    if CUDA:
        torch.cuda.set_device(DEVICE)
    if SHARED and "NCCL_HOSTID" not in os.environ:
        # NCCL refuses two ranks of one host on one GPU
        os.environ["NCCL_HOSTID"] = str(LOCAL_RANK // torch.cuda.device_count())
    torch.manual_seed(RANK)
    dist.init_process_group(
        backend or ("nccl" if CUDA else "gloo"),
        timeout=timedelta(seconds=seconds),
        device_id=DEVICE if eager and CUDA and backend is None else None,
    )


def finish() -> None:
    dist.destroy_process_group()


def network(width: int = 512, depth: int = 3, out: int = 1) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.GELU()]
    return nn.Sequential(*layers, nn.Linear(width, out)).to(DEVICE)


def replicate(model: nn.Module, **options: object) -> DistributedDataParallel:
    return DistributedDataParallel(model, device_ids=[DEVICE.index] if CUDA else None, **options)


def batch(size: int = 32, width: int = 512) -> torch.Tensor:
    return torch.randn(size, width, device=DEVICE)


def optimise(model: nn.Module, lr: float = 1e-3) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=lr)


def optimised(model: Model) -> tuple[Model, torch.optim.Optimizer]:
    return model, optimise(model)


def trainee(width: int = 512, depth: int = 3) -> tuple[DistributedDataParallel, torch.optim.Optimizer]:
    """The network, replicated, and its optimiser."""
    return optimised(replicate(network(width, depth)))


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, step: int, inputs: torch.Tensor) -> float:
    """One step; every rank waits for its own loss so that the printed step is the true one."""
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    value = float(loss.item())
    if RANK == 0:
        print(f"step {step:4d} | loss {value:.4f} | lr 1.0e-03", flush=True)
    time.sleep(0.05)
    return value
