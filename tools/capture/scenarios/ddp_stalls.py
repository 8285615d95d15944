"""Data-parallel jobs in which one rank stops making progress while the others wait for it."""

from __future__ import annotations

import ctypes
import faulthandler
import io
import os
import signal
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

from scenarios import scenario
from scenarios.common import (
    DEVICE,
    RANK,
    SCRATCH,
    batch,
    finish,
    init,
    logger,
    logging_setup,
    train_step,
    trainee,
)


@scenario("stall-python-loop")
def stall_python_loop() -> None:
    """Rank 0 spins in Python waiting for a file that never comes: straggler-or-hang, rank 0."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        while RANK == 0 and step == 5 and not Path(SCRATCH, "resume.flag").exists():
            pass
        train_step(model, optimizer, step, batch())
    finish()


@scenario("stall-sleep-blocking-wait")
def stall_sleep_blocking_wait() -> None:
    """Rank 1 sleeps; TORCH_NCCL_BLOCKING_WAIT=1 makes the others raise in wait(): straggler, rank 1."""
    init(10)
    for step in range(10):
        if RANK == 1 and step == 4:
            time.sleep(60)
        value = torch.ones(4096, device=DEVICE)
        dist.all_reduce(value, async_op=True).wait()
        print(f"rank {RANK} step {step}: {value[0].item():.0f}", flush=True)
    finish()


@scenario("stall-frozen-process")
def stall_frozen_process() -> None:
    """Rank 1 is stopped with SIGSTOP; not even SIGTERM reaches it: straggler-or-hang, rank 1."""
    init(10)
    model, optimizer = trainee()
    for step in range(12):
        if RANK == 1 and step == 5:
            os.kill(os.getpid(), signal.SIGSTOP)
        train_step(model, optimizer, step, batch())
    finish()


@scenario("stall-gil-held")
def stall_gil_held() -> None:
    """Rank 1 holds the interpreter lock in C for 70 s while the others time out: straggler-or-hang, rank
    1."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        if RANK == 1 and step == 5:
            ctypes.PyDLL(None).sleep(70)
        train_step(model, optimizer, step, batch())
    finish()


@scenario("stall-event-query")
def stall_event_query() -> None:
    """On rank 1 the CUDA event query stops returning (a preloaded shim): the heartbeat monitor fires,
    rank 1."""
    init(60)
    model, optimizer = trainee()
    for step in range(400):
        train_step(model, optimizer, step, batch())
        time.sleep(0.1)
    finish()


class SlowSamples(Dataset[torch.Tensor]):
    """Samples of which one, on one rank, takes five minutes to read."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> torch.Tensor:
        if RANK == 1 and index == 20:
            time.sleep(300)
        return torch.full((512,), float(index))


def _train_from_loader(timeout: float) -> None:
    model, optimizer = trainee()
    loader = DataLoader(SlowSamples(), batch_size=4, num_workers=2, timeout=timeout)
    for step, inputs in enumerate(loader):
        train_step(model, optimizer, step, inputs.to(DEVICE))
    finish()


@scenario("stall-loader-dumped")
def stall_loader_dumped() -> None:
    """A DataLoader worker of rank 1 hangs; every rank dumps its stacks after a while: data-loading, rank
    1."""
    init()
    faulthandler.dump_traceback_later(14, repeat=False)
    _train_from_loader(0)


@scenario("stall-loader-quiet")
def stall_loader_quiet() -> None:
    """A DataLoader worker of rank 1 hangs and nothing says so: straggler-or-hang, rank 1."""
    init(10)
    _train_from_loader(0)


@scenario("stall-loader-timeout")
def stall_loader_timeout() -> None:
    """A DataLoader worker of rank 1 hangs and the loader's own timeout ends it: data-loading, rank 1."""
    init(40)
    _train_from_loader(8)


class SlowDisk(io.BytesIO):
    """A file that takes its time, and says how far it is."""

    written = 0

    def write(self, data: object) -> int:
        size = super().write(data)  # type: ignore[arg-type]
        self.written += size
        time.sleep(0.9)
        if self.written // (8 << 20) != (self.written - size) // (8 << 20):
            logger.info("checkpoint: %d MiB written", self.written >> 20)
        return size


@scenario("stall-slow-checkpoint")
def stall_slow_checkpoint() -> None:
    """Rank 0 writes a checkpoint that takes longer than the timeout, the others sit in a barrier:
    checkpoint or watchdog-too-short, rank 0."""
    init()
    logging_setup()
    model, optimizer = trainee(width=1024, depth=24)
    for step in range(4):
        train_step(model, optimizer, step, batch(width=1024))
    if RANK == 0:
        logger.info("saving checkpoint step-4")
        torch.save(model.module.state_dict(), SlowDisk())
        logger.info("checkpoint step-4 saved")
    dist.barrier()
    finish()


@scenario("stall-slow-checkpoint-quiet")
def stall_slow_checkpoint_quiet() -> None:
    """Like stall-slow-checkpoint but rank 0 only says that it starts to save: checkpoint, rank 0."""
    init(10)
    model, optimizer = trainee()
    for step in range(4):
        train_step(model, optimizer, step, batch())
    if RANK == 0:
        print("Saving model checkpoint to /mnt/shared/ckpt/step_4", flush=True)
        time.sleep(80)
        print("Saved model checkpoint to /mnt/shared/ckpt/step_4", flush=True)
    dist.barrier()
    finish()


@scenario("ddp-rank0-evaluates")
def ddp_rank0_evaluates() -> None:
    """Rank 0 alone runs an evaluation that holds a collective; the others train on: desync, rank 0."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        train_step(model, optimizer, step, batch())
        if step == 5 and RANK == 0:
            print("running evaluation on the validation split", flush=True)
            with torch.no_grad():
                metrics = torch.stack([model.module(batch()).mean(), torch.ones((), device=DEVICE)])
            dist.all_reduce(metrics)
            print(f"eval loss {metrics[0].item():.4f}", flush=True)
    finish()
