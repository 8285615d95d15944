"""Jobs that end well although they print what looks like trouble."""

from __future__ import annotations

import logging
import time
import warnings
from multiprocessing import shared_memory
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

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
from scenarios.host import Samples


@scenario("healthy-progress")
def healthy_progress() -> None:
    """Thirty steps with progress lines, an evaluation and checkpoints, ends well: healthy."""
    init(60)
    model, optimizer = trainee()
    for step in range(30):
        train_step(model, optimizer, step, batch())
        if step % 10 == 9:
            if RANK == 0:
                torch.save(model.state_dict(), f"{SCRATCH}/step_{step}.pt")
                print(f"saved checkpoint step_{step}.pt", flush=True)
            dist.barrier()
    if RANK == 0:
        print("training complete: 30 steps, best loss 0.0021", flush=True)
    finish()


@scenario("healthy-caught")
def healthy_caught() -> None:
    """Exceptions of many kinds, caught, logged with their tracebacks and retried, ends well: healthy."""
    init(60)
    logging_setup(logging.DEBUG)
    model, optimizer = trainee()
    for step in range(12):
        try:
            if step == 2:
                raise ConnectionError(
                    f"HTTPSConnectionPool(host='hub', port=443): Read timed out. rank {RANK}"
                )
            if step == 4 and RANK == 1:
                open("/mnt/cache/index.json").close()
            if step == 6:
                raise RuntimeError("CUDA error: out of memory while probing cudnn; using the default")
            if step == 8 and RANK == 0:
                Path("/proc/1/checkpoints").mkdir(parents=True)
        except (OSError, RuntimeError):
            logger.exception("step %d: attempt 1/3 failed, retrying", step)
        train_step(model, optimizer, step, batch())
        if step == 9:
            warnings.warn("NCCL timeout is set to 60 s; a hang would be killed after that", stacklevel=1)
    logger.info("finished: 0 errors, 4 retries")
    finish()


@scenario("healthy-leaks")
def healthy_leaks() -> None:
    """Too many loader workers, a leaked shared-memory block, no destroy_process_group, ends well: healthy."""
    init(60)
    block = shared_memory.SharedMemory(create=True, size=4096)
    model, optimizer = trainee()
    loader = DataLoader(Samples(512, 96), batch_size=8, num_workers=80 if RANK == 0 else 2)
    for step, inputs in enumerate(loader):
        train_step(model, optimizer, step, inputs.to(DEVICE))
    block.close()
    print(f"rank {RANK}: done", flush=True)


@scenario("healthy-fork-warnings")
def healthy_fork_warnings() -> None:
    """Tokenizers used before a fork, deprecated calls and futures warn, ends well: healthy."""
    init(60)
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers

        tokenizer = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.encode_batch(["a a b"] * 4096)
    except ImportError:
        print("tokenizers is not installed", flush=True)
    model, optimizer = trainee()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scheduler.step()
    loader = DataLoader(Samples(512, 64), batch_size=8, num_workers=2, pin_memory=True)
    for step, inputs in enumerate(loader):
        train_step(model, optimizer, step, inputs.to(DEVICE))
    torch.tensor(torch.ones(2))
    torch.nn.functional.softmax(torch.ones(2))
    finish()


@scenario("healthy-slow-rank")
def healthy_slow_rank() -> None:
    """Rank 1 is slow for 20 s and says so, nobody times out, ends well: healthy."""
    init(60)
    logging_setup()
    model, optimizer = trainee()
    for step in range(10):
        if RANK == 1 and step == 4:
            logger.warning("shard read is slow: 0.2 MB/s, 20 s left")
            time.sleep(20)
        train_step(model, optimizer, step, batch())
    if RANK == 0:
        print("training complete", flush=True)
    finish()


@scenario("healthy-errors-survived")
def healthy_errors_survived() -> None:
    """A lost connection, a skipped NaN batch and a full GPU, each logged as an error and survived, ends
    well: healthy."""
    init(60)
    logging_setup(logging.DEBUG)
    model, optimizer = trainee()
    for step in range(12):
        try:
            if step == 3 and RANK == 2:
                raise ConnectionResetError(104, "Connection reset by peer")
            if step == 5 and RANK == 1:
                torch.empty(1 << 42, dtype=torch.uint8, device=DEVICE)
            if step == 7:
                raise FloatingPointError("loss is nan, batch skipped on every rank")
        except (ConnectionResetError, RuntimeError, MemoryError) as error:
            logger.error("rank %d: step %d: %s: %s; recovered", RANK, step, type(error).__name__, error)
        except FloatingPointError as error:
            logger.error("rank %d: %s", RANK, error)
            continue
        train_step(model, optimizer, step, batch())
    if RANK == 0:
        logger.info("Training finished after 12 steps, final loss 0.0123. Exiting with code 0")
    finish()


@scenario("healthy-long-wait")
def healthy_long_wait() -> None:
    """Rank 2 holds everyone up for 25 s inside a timeout of 60 s, warnings about it are printed, ends well:
    healthy."""
    init(60)
    logging_setup()
    model, optimizer = trainee()
    for step in range(8):
        if RANK == 2 and step == 3:
            logger.warning("rank 2: straggler detected: step took 8.3x the median")
            logger.warning("rank 2: NCCL watchdog timeout is near? elapsed 24 s of 60 s")
            time.sleep(25)
        train_step(model, optimizer, step, batch())
    logger.info("rank %d: shutting down, SIGTERM handler removed", RANK)
    finish()


@scenario("healthy-progress-bar")
def healthy_progress_bar() -> None:
    """A progress bar that rewrites its line, warnings in between, ends well: healthy."""
    from tqdm import tqdm

    init(60)
    model, optimizer = trainee()
    for epoch in range(2):
        steps = tqdm(range(20), desc=f"Epoch {epoch + 1}/2", disable=RANK != 0, mininterval=0.01)
        for step in steps:
            optimizer.zero_grad()
            loss = model(batch()).square().mean()
            loss.backward()
            optimizer.step()
            steps.set_postfix(loss=f"{loss.item():.4f}", failed=0, timeouts=0)
            if step == 10:
                warnings.warn(f"rank {RANK}: 3 corrupt samples skipped, 0 errors left", stacklevel=1)
    if RANK == 0:
        print("Done. Killed 0 stale workers; see crash.log for none.", flush=True)
    finish()
