"""What these programs share: how they join, the small model, the ways in which trainers report. No faults in here."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from scenarios.common import DEVICE, RANK, init, network, optimised, replicate

OUTPUT = Path("outputs")


def connect(seconds: float = 15, eager: bool = True, backend: str | None = None) -> None:
    """Join the default group, by default at once instead of with the first collective."""
    random.seed(RANK)
    OUTPUT.mkdir(exist_ok=True)
    init(seconds, eager, backend)


def patience(mesh: object, seconds: float) -> None:
    """Set the timeout of the groups of a mesh, as of the default group."""
    for name in mesh.mesh_dim_names:
        dist.distributed_c10d._set_pg_timeout(timedelta(seconds=seconds), mesh.get_group(name))


def logger_of(style: str) -> logging.Logger:
    """A logger in one of the usual formats."""
    shape = {
        "titan": "[titan] %(asctime)s - root - %(levelname)s - %(message)s",
        "bracket": f"[%(asctime)s][%(levelname)s][%(filename)s:%(lineno)d][rank {RANK}] %(message)s",
        "plain": "%(asctime)s %(levelname)-8s %(message)s",
        "mm": "%(asctime)s - mmengine - %(levelname)s - %(message)s",
        "hf": "[%(levelname)s|%(filename)s:%(lineno)d] %(asctime)s >> %(message)s",
        "glog": "%(levelname).1s%(asctime)s.%(msecs)03d %(process)d %(filename)s:%(lineno)d] %(message)s",
        "loguru": "%(asctime)s.%(msecs)03d | %(levelname)-8s | %(module)s:%(funcName)s:%(lineno)d - %(message)s",
        "rank": f"%(asctime)s - rank{RANK} - %(name)s - %(levelname)s: %(message)s",
    }[style]
    dates = {"mm": "%Y/%m/%d %H:%M:%S", "glog": "%m%d %H:%M:%S", "loguru": "%Y-%m-%d %H:%M:%S"}.get(style)
    logging.basicConfig(level=logging.INFO, format=shape, datefmt=dates, force=True)
    return logging.getLogger("train")


def say(text: str) -> None:
    """Print on the first rank."""
    if RANK == 0:
        print(text, flush=True)


def nano(step: int, loss: float, total: int = 0) -> None:
    say(
        f"iter {step}: loss {loss:.4f}, time {random.uniform(30, 90):.2f}ms, mfu {random.uniform(28, 33):.2f}%"
    )


def megatron(step: int, loss: float, total: int = 100) -> None:
    say(
        f" [{datetime.now():%Y-%m-%d %H:%M:%S.%f}] iteration {step:8d}/{total:8d} | consumed samples: "
        f"{step * 64:12d} | elapsed time per iteration (ms): {random.uniform(40, 80):.1f} | learning rate: "
        f"1.500000E-04 | global batch size:    64 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: "
        f"{random.uniform(0.5, 2):.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |"
    )


def titan(step: int, loss: float, total: int = 0) -> None:
    if RANK == 0:
        logging.getLogger("train").info(
            "step: %2d  loss: %8.5f  grad_norm: %7.4f  memory: %5.2fGiB(%.2f%%)  tps: %s  tflops: %.2f  mfu: %.2f%%",
            step, loss, random.uniform(0.3, 2), 1.31, 0.94, f"{random.randint(5000, 9000):,}", 212.4, 21.5,
        )  # fmt: skip


def hugging(step: int, loss: float, total: int = 100) -> None:
    say(
        str(
            {
                "loss": round(loss, 4),
                "grad_norm": round(random.uniform(0.4, 2), 6),
                "learning_rate": 5e-05 * (1 - step / 100),
                "epoch": round(step / 100, 2),
            }
        )
    )


def records(step: int, loss: float, total: int = 0) -> None:
    print(
        json.dumps(
            {
                "ts": round(time.time(), 3),
                "level": "info",
                "rank": RANK,
                "event": "train_step",
                "step": step,
                "loss": round(loss, 5),
                "tokens_per_s": random.randint(20000, 22000),
            }
        ),
        flush=True,
    )


def epochs(step: int, loss: float, total: int = 100) -> None:
    if RANK == 0:
        logging.getLogger("train").info(
            "Epoch(train)  [1][%3d/%d]  lr: 1.0000e-02  eta: 0:0%d:%02d  time: %.4f  data_time: %.4f  memory: 1542  "
            "loss: %.4f  loss_cls: %.4f",
            step, total, random.randint(0, 3), random.randint(0, 59), random.uniform(0.05, 0.2),
            random.uniform(0.001, 0.01), loss, loss * 0.7,
        )  # fmt: skip


def everyone(step: int, loss: float, total: int = 0) -> None:
    logging.getLogger("train").info(
        "step=%d loss=%.5f lr=%.2e grad_norm=%.3f", step, loss, 3e-4, random.uniform(0.3, 2)
    )


def speed(step: int, loss: float, total: int = 0) -> None:
    say(
        f"Train Epoch: 1 [{step * 128:6d}/51200 ({step // 4}%)]\tLoss: {loss:.6f}\tThroughput: {random.uniform(900, 1100):.1f} samples/s"
    )


def mlp(width: int = 256, depth: int = 3) -> nn.Sequential:
    return network(width, depth, out=width)


def small() -> tuple[DistributedDataParallel, torch.optim.Optimizer]:
    """The small model, replicated, and its optimiser."""
    return optimised(replicate(mlp()))


def batch(size: int = 32, width: int = 256) -> torch.Tensor:
    return torch.randn(size, width, device=DEVICE)


def update(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, pause: float = 0.08
) -> float:
    """Forward, backward, step."""
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    time.sleep(pause)
    return loss.item()


def run_steps(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    report: Callable[..., None],
    first: int,
    last: int,
    every: int = 1,
) -> None:
    """Some undisturbed steps."""
    for step in range(first, last):
        loss = update(model, optimizer, batch())
        if step % every == 0:
            report(step, loss)
