"""Ranks that die."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import os
import signal
import socket
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from scenarios import scenario
from scenarios.common import ATTEMPT, DEVICE, RANK, WORLD, finish, optimise, replicate
from scenarios.programs.house import (
    OUTPUT,
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
from scenarios.programs.trainers import log_d2, log_every, log_olmo, trainer_logger


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


@scenario("hidden-shape")
def hidden_shape() -> None:
    """Rank 1's last batch is smaller, an assertion in the model: user-code, rank 1."""
    log = trainer_logger("olmo", "model")
    connect(14)

    class Tower(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = mlp()

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            hidden = self.body(hidden)
            assert hidden.shape == (32, 256), (
                f"expected hidden states of shape (32, 256), got {tuple(hidden.shape)}"
            )
            return hidden.view(8, 4, 256).mean(1)

    model = replicate(Tower().to(DEVICE))
    optimizer = optimise(model)
    log.info("starting at step 0")
    for step in range(30):
        log_olmo(step, update(model, optimizer, batch(20 if RANK == 1 and step == 17 else 32)))
    finish()


@scenario("bucket-table")
def bucket_table() -> None:
    """Rank 1's native lookup reads from a null pointer: rank-crash, rank 1."""
    trainer_logger("short")
    connect(14)
    model, optimizer = small()
    library = ctypes.CDLL("./liblookup.so")
    table = (ctypes.c_int * 8192)()
    for step in range(30):
        library.find_bucket(None if RANK == 1 and step == 14 else table, step)
        log_every(step, update(model, optimizer, batch()))
    finish()


@scenario("leaves-with-one")
def leaves_with_one() -> None:
    """Rank 3 leaves with exit code 1 and says nothing: rank-crash, rank 3."""
    trainer_logger("fairseq")
    connect(14)
    model, optimizer = small()
    for step in range(30):
        if RANK == 3 and step == 16:
            os._exit(1)
        log_every(step, update(model, optimizer, batch()))
    finish()


@scenario("three-attempts")
def three_attempts() -> None:
    """Attempt 0 is killed, attempt 1 meets a refused connection, attempt 2 a KeyError on rank 1: user-code, rank 1."""
    log = trainer_logger("accelerate")
    time.sleep(0 if RANK == 0 else 5)
    connect(25)
    model, optimizer = small()
    path = OUTPUT / "last.pt"
    first = torch.load(path)["step"] if path.exists() else 0
    if RANK == 0:
        log.info("resuming at step %d", first)
    if ATTEMPT == 1 and RANK == 3:
        socket.create_connection(("127.0.0.1", 7071), 5).close()
    stages = {0: "warmup", 1: "stable", 2: "stable"}
    if RANK != 1:
        stages |= {3: "decay", 4: "decay"}
    for step in range(first, 60):
        stage = stages[step // 12]
        loss = update(model, optimizer, batch())
        if RANK == 0:
            log.info("step %d stage %s loss %.4f", step, stage, loss)
            if step % 6 == 5:
                torch.save({"step": step + 1}, path)
        if ATTEMPT == 0 and RANK == 2 and step == 20:
            os.kill(os.getpid(), signal.SIGKILL)
    finish()


@scenario("unused-head")
def unused_head() -> None:
    """A head is not used in the loss: user-code, all ranks."""
    log = trainer_logger("d2", "train_loop")
    connect(14)

    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.trunk, self.boxes, self.masks = mlp(), nn.Linear(256, 64), nn.Linear(256, 28)

        def forward(self, x: torch.Tensor, masks: bool) -> torch.Tensor:
            x = self.trunk(x)
            loss = self.boxes(x).square().mean()
            return loss + self.masks(x).square().mean() if masks else loss

    model = replicate(Heads().to(DEVICE))
    optimizer = optimise(model)
    log.info("Starting training from iteration 0")
    for step in range(20):
        loss = model(batch(), masks=step < 9)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log_d2(step, loss.item())
        time.sleep(0.1)
    finish()
