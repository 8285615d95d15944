"""One rank that dies, by a signal or on its own, at different points of a job."""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import sys
import time
from pathlib import Path

from scenarios import scenario
from scenarios.common import (
    LOCAL_RANK,
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


def _die() -> None:
    """Read address zero."""
    ctypes.string_at(0)


def _train(rank: int, at: int, steps: int = 14) -> None:
    """Train; ``rank`` ends its part after ``at`` steps, the others go on."""
    model, optimizer = trainee()
    for step in range(at if rank == RANK else steps):
        train_step(model, optimizer, step, batch())


@scenario("dies-in-backward")
def dies_in_backward() -> None:
    """Rank 0 of three reads a null pointer inside a gradient hook, faulthandler prints it: crash, rank 0."""
    faulthandler.enable()
    init(14)
    model, optimizer = trainee()
    for step in range(10):
        inputs = batch()
        if RANK == 0 and step == 5:
            inputs.requires_grad_().register_hook(lambda gradient: _die())
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("dies-of-bus-error")
def dies_of_bus_error() -> None:
    """Rank 2's memory-mapped index was cut under it: SIGBUS: crash, rank 2."""
    init(14)
    model, optimizer = trainee()
    path = Path(SCRATCH, f"index_{RANK}.bin")
    path.write_bytes(b"\1" * (1 << 20))
    with open(path, "r+b") as handle:
        index = mmap.mmap(handle.fileno(), 0)
    for step in range(10):
        if RANK == 2 and step == 5:
            os.truncate(path, 4096)
        offset = index[(1 << 19) + step]
        train_step(model, optimizer, step, batch() + 0.0 * offset)
    finish()


@scenario("dies-of-sigterm")
def dies_of_sigterm() -> None:
    """Somebody terminates rank 1 alone in the middle of training: crash, rank 1."""
    init(14)
    _train(1, 6)
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    finish()


@scenario("dies-before-joining")
def dies_before_joining() -> None:
    """Rank 3 is killed while it loads weights, before it joins the process group: crash, rank 3."""
    logging_setup()
    logger.info("rank %d: loading weights", RANK)
    time.sleep(2)
    if RANK == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    logger.info("rank %d: weights loaded", RANK)
    init(14)
    _train(-1, 0)
    finish()


@scenario("leaves-with-three")
def leaves_with_three() -> None:
    """Rank 1 calls os._exit(3) without a word: crash, rank 1."""
    init(14)
    _train(1, 4)
    if RANK == 1:
        os._exit(3)
    finish()


@scenario("leaves-with-zero")
def leaves_with_zero() -> None:
    """Rank 0 of three ends itself with sys.exit(0) after some steps: desync or crash, rank 0."""
    init(14)
    _train(0, 5)
    if RANK == 0:
        sys.exit(0)
    finish()


@scenario("killed-in-training")
def killed_in_training() -> None:
    """Rank 1 is killed with SIGKILL at step 7: crash, rank 1."""
    init(14)
    _train(1, 7)
    if LOCAL_RANK == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    finish()


@scenario("killed-at-the-end")
def killed_at_the_end() -> None:
    """Rank 3 is killed after training is complete, while the process group is taken down: crash, rank 3."""
    init(14)
    _train(-1, 0, 8)
    print(f"rank {RANK}: training finished, writing the summary", flush=True)
    if RANK == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(3)
    finish()


@scenario("interrupted-alone")
def interrupted_alone() -> None:
    """Somebody interrupts rank 2 alone (SIGINT), it raises KeyboardInterrupt: crash, rank 2."""
    init(14)
    _train(2, 5)
    if RANK == 2:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    finish()


def _save_and_leave(number: int, frame: object) -> None:
    logger.warning("rank %d: signal %d received, saving a checkpoint before the node goes", RANK, number)
    sys.exit(0)


@scenario("preempted-saves")
def preempted_saves() -> None:
    """The launcher gets SIGTERM from outside; every rank saves and ends with 0: scheduler."""
    logging_setup()
    init(30)
    signal.signal(signal.SIGTERM, _save_and_leave)
    model, optimizer = trainee()
    for step in range(2000):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("dies-of-null")
def dies_of_null() -> None:
    """Rank 2 reads a null pointer between two steps, nothing prints a stack: crash, rank 2."""
    init(14)
    _train(2, 6)
    if RANK == 2:
        _die()
    finish()
