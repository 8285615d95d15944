"""Ranks that die."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from scenarios import scenario
from scenarios.common import DEVICE, RANK, WORLD, finish, optimise
from scenarios.programs.house import (
    batch,
    connect,
    everyone,
    logger_of,
    mlp,
    nano,
    small,
    speed,
    titan,
    update,
)


@scenario("divides-by-zero")
def divides_by_zero() -> None:
    """Rank 1's native packing divides by zero: SIGFPE: rank-crash, rank 1."""
    connect(14)
    model = mlp(512, 2)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    fully_shard(model, mesh=mesh)
    optimizer = optimise(model)
    library = ctypes.CDLL("./libpack.so")
    for step in range(24):
        rows = 0 if RANK == 1 and step == 9 else 16
        library.rows_per_bin(512, rows)
        speed(step, update(model, optimizer, batch(32, 512)))
    finish()


@scenario("native-assertion")
def native_assertion() -> None:
    """Rank 2's native packing fails an assertion: SIGABRT: rank-crash, rank 2."""
    faulthandler.enable()
    logger_of("bracket")
    connect(14)
    model, optimizer = small()
    library = ctypes.CDLL("./libpack.so")
    for step in range(24):
        library.pack(2048, 2049 if RANK == 2 and step == 8 else 2047)
        everyone(step, update(model, optimizer, batch()))
    finish()


@scenario("hook-raises")
def hook_raises() -> None:
    """A gradient hook on rank 1 raises: user-code, rank 1."""
    connect(14)
    logger_of("titan")
    model, optimizer = small()
    history: dict[str, list[float]] = {name: [] for name, _ in model.named_parameters()}

    def watch(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
        def clip(gradient: torch.Tensor) -> torch.Tensor:
            norms = history[name]
            norms.append(float(gradient.norm()))
            return gradient * min(1.0, 4 * sorted(norms)[len(norms) // 2] / (norms[-1] + 1e-12))

        return clip

    for name, parameter in model.named_parameters():
        parameter.register_hook(watch(name))
    for step in range(1, 24):
        titan(step, update(model, optimizer, batch()))
        if RANK == 1 and step == 8:
            history.popitem()
    finish()


@scenario("killed-while-saving")
def killed_while_saving() -> None:
    """Rank 3 is killed while an asynchronous checkpoint is written: rank-crash, rank 3."""
    logger_of("plain")
    connect(14)
    control = dist.new_group(backend="gloo")
    model = mlp(1024, 4)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    fully_shard(model, mesh=mesh)
    optimizer = optimise(model)
    pending = None
    for step in range(1, 120):
        everyone(step, update(model, optimizer, batch(32, 1024), 0.15))
        if step % 10 == 0:
            if pending is not None:
                pending.result()
                logging.getLogger("train").info("checkpoint committed")
            logging.getLogger("train").info("async checkpoint to outputs/step-%d started", step)
            pending = dcp.async_save(
                {"model": model.state_dict()}, checkpoint_id=f"outputs/step-{step}", process_group=control
            )
    finish()


@scenario("processor-time")
def processor_time() -> None:
    """Rank 1 gets SIGXCPU from its limit on processor time: rank-crash, rank 1."""
    import resource

    connect(14)
    model, optimizer = small()
    if RANK == 1:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + 4
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 20))
    for step in range(300):
        end = time.time() + 0.2
        while time.time() < end:
            sum(range(1000))
        nano(step, update(model, optimizer, batch(), 0))
    finish()
