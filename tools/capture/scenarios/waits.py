"""One rank that waits for something which is no collective, or takes longer than the others allow."""

from __future__ import annotations

import os
import queue
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist

from scenarios import scenario
from scenarios.common import (
    CUDA,
    DEVICE,
    RANK,
    SCRATCH,
    WORLD,
    batch,
    finish,
    init,
    logger,
    logging_setup,
    optimised,
    train_step,
    trainee,
)
from scenarios.fsdp import sharded
from scenarios.gpu_code import _launch


@scenario("lock-taken-twice")
def lock_taken_twice() -> None:
    """Rank 2 takes a lock of its own cache twice and waits for itself: straggler-or-hang, rank 2."""
    init(14)
    model, optimizer = trainee()
    guard = threading.Lock()
    for step in range(12):
        with guard:
            if RANK == 2 and step == 6:
                guard.acquire()
            inputs = batch()
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("checkpoint-into-pipe")
def checkpoint_into_pipe() -> None:
    """Rank 1's shard file is a pipe that nobody reads, its open never returns: checkpoint, rank 1."""
    init(14)
    logging_setup()
    model, optimizer = optimised(sharded())
    for step in range(5):
        train_step(model, optimizer, step, batch())
    path = Path(SCRATCH, f"step_5_rank{RANK}.pt")
    if RANK == 1:
        os.mkfifo(path)
    logger.info("rank %d: saving shard to %s", RANK, path)
    with open(path, "wb") as handle:
        torch.save([torch.zeros(4)], handle)
    logger.info("rank %d: shard saved", RANK)
    dist.barrier()
    for step in range(5, 8):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("kernel-never-ends")
def kernel_never_ends() -> None:
    """A kernel of rank 3 spins for minutes, its next collective is queued behind it: hang or cuda-kernel,
    rank 3."""
    init(14)
    model, optimizer = trainee()
    for step in range(10):
        inputs = batch()
        if RANK == 3 and step == 5:
            _launch("poll_rows", inputs)
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("producer-thread-dies")
def producer_thread_dies() -> None:
    """The thread that reads rank 0's input dies of an OSError, the main thread waits on its queue:
    data-loading, rank 0."""
    init(14)
    model, optimizer = trainee()
    ready: queue.Queue[torch.Tensor] = queue.Queue(maxsize=2)

    def produce() -> None:
        for index in range(12):
            if RANK == 0 and index == 6:
                raise OSError(116, "Stale file handle", "/mnt/data/shard_00006.bin")
            ready.put(torch.full((32, 512), float(index)))

    threading.Thread(target=produce, name="prefetch", daemon=True).start()
    for step in range(12):
        train_step(model, optimizer, step, ready.get().to(DEVICE))
    finish()


def _slow_backend(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
    if RANK == 2 and any(isinstance(i, torch.Tensor) and 640 in i.shape for i in inputs):
        logger.info("rank %d: autotuning 48 configurations for shape (32, 640)", RANK)
        time.sleep(80)
        logger.info("rank %d: autotuning done", RANK)
    return module.forward


@scenario("compile-slow-one-rank")
def compile_slow_one_rank() -> None:
    """A new shape makes rank 2 compile for 80 s while the others' 14 s run out: compile or
    watchdog-too-short, rank 2."""
    init(14)
    logging_setup()
    model, optimizer = trainee()
    scale = torch.compile(lambda x: (x * 2).sum(-1, keepdim=True), backend=_slow_backend, dynamic=False)
    for step in range(8):
        width = 640 if RANK == 2 and step == 5 else 512
        inputs = batch() + 0.0 * scale(batch(width=width))
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("evaluation-outlasts-timeout")
def evaluation_outlasts_timeout() -> None:
    """Rank 0 evaluates with a progress bar for longer than the others wait in a barrier:
    watchdog-too-short, rank 0."""
    init(12)
    model, optimizer = trainee()
    for step in range(6):
        train_step(model, optimizer, step, batch())
    if RANK == 0:
        for index in range(60):
            time.sleep(0.75)
            print(f"Evaluating: {index + 1}/60 batches, accuracy {0.5 + index / 200:.3f}", flush=True)
    dist.barrier()
    finish()


@scenario("sleeps-of-three")
def sleeps_of_three() -> None:
    """Rank 1 of three sleeps in a callback without a word: straggler-or-hang, rank 1."""
    init(14)
    model, optimizer = trainee()
    for step in range(10):
        if RANK == 1 and step == 6:
            time.sleep(10**5)
        train_step(model, optimizer, step, batch())
    finish()


@scenario("tokenizer-lock-file")
def tokenizer_lock_file() -> None:
    """Rank 3 waits for a lock file before its first collective, logging every five seconds:
    straggler-or-hang, rank 3."""
    init(14)
    logging_setup()
    logger.info("rank %d/%d: tokenizing", RANK, WORLD)
    waited = 0
    while RANK == 3 and waited < 120:
        if waited % 5 == 0:
            logger.warning("rank 3: waiting for lock /mnt/cache/tokenized/.lock held by another process")
        time.sleep(1)
        waited += 1
    value = torch.ones(16, device=DEVICE)
    dist.all_reduce(value)
    if CUDA:
        torch.cuda.synchronize()
    logger.info("rank %d: dataset ready", RANK)
    finish()
