"""Data-parallel jobs in which one rank leaves the common path or dies."""

from __future__ import annotations

import os
import signal
import time

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import (
    DEVICE,
    LOCAL_RANK,
    RANK,
    batch,
    finish,
    init,
    logger,
    logging_setup,
    network,
    optimise,
    optimised,
    replicate,
    train_step,
    trainee,
)


@scenario("ddp-uneven-data")
def ddp_uneven_data() -> None:
    """Rank 2's shard holds half as many batches, it leaves the loop early and exits 0: desync, rank 2."""
    init()
    model, optimizer = trainee()
    batches = 6 if RANK == 2 else 12
    print(f"rank {RANK}: shard {RANK:05d}.tar, {batches} batches", flush=True)
    for step in range(batches):
        train_step(model, optimizer, step, batch())
    print(f"rank {RANK}: epoch 0 finished after {batches} batches", flush=True)


@scenario("ddp-uneven-data-quiet")
def ddp_uneven_data_quiet() -> None:
    """Like ddp-uneven-data with rank 1 and a barrier at the end instead of an exit, and no hint printed."""
    init(10)
    model, optimizer = trainee()
    for step in range(8 if RANK == 1 else 12):
        train_step(model, optimizer, step, batch())
    dist.barrier()
    finish()


@scenario("ddp-skipped-backward")
def ddp_skipped_backward() -> None:
    """Rank 1 skips the backward of one batch with a bad loss and runs one step ahead: desync, rank 1."""
    init()
    logging_setup()
    model, optimizer = trainee()
    for step in range(12):
        inputs = batch()
        if RANK == 1 and step == 5:
            inputs[0, 0] = float("nan")
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        if not torch.isfinite(loss):
            logger.warning("rank %d: non-finite loss at step %d, batch skipped", RANK, step)
            continue
        loss.backward()
        optimizer.step()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    total = torch.tensor([float(RANK), 1.0, 2.0], device=DEVICE)
    dist.all_reduce(total)
    if RANK == 0:
        print(f"epoch mean {total[0].item():.3f}", flush=True)
    finish()


class Branches(nn.Module):
    """Two heads of which a batch uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.aux_head = nn.Linear(512, 512), nn.Linear(512, 1), nn.Linear(512, 1)

    def forward(self, inputs: torch.Tensor, use_aux: bool) -> torch.Tensor:
        hidden = self.body(inputs).relu()
        return self.head(hidden) + (self.aux_head(hidden) if use_aux else 0.0)


def _train_branches(aux_missing: bool) -> None:
    init()
    model, optimizer = optimised(replicate(Branches().to(DEVICE)))
    for step in range(10):
        use_aux = not (step >= 4 and aux_missing)
        optimizer.zero_grad()
        loss = model(batch(), use_aux).square().mean()
        loss.backward()
        optimizer.step()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    finish()


@scenario("ddp-unused-parameters")
def ddp_unused_parameters() -> None:
    """From step 4 on a head is unused on every rank; DDP refuses the next forward: config or user code,
    all."""
    _train_branches(aux_missing=True)


@scenario("ddp-unused-parameters-one-rank")
def ddp_unused_parameters_one_rank() -> None:
    """Only rank 3's batches leave a head unused; DDP refuses there, the others wait: user code, rank 3."""
    _train_branches(aux_missing=RANK == 3)


@scenario("ddp-forward-raises")
def ddp_forward_raises() -> None:
    """One batch on rank 1 has the wrong width, its matrix product raises: user code, rank 1."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        width = 500 if RANK == 1 and step == 6 else 512
        train_step(model, optimizer, step, batch(width=width))
    finish()


@scenario("ddp-swallowed-exception")
def ddp_swallowed_exception() -> None:
    """Rank 2 catches an IndexError, logs it as a warning and pauses; the others time out: user code, rank
    2."""
    init()
    logging_setup()
    model, optimizer = trainee()
    table = list(range(7))
    for step in range(12):
        try:
            offset = table[step] if RANK == 2 else 0
        except IndexError as error:
            logger.warning(
                "rank %d: sample skipped at step %d: %s: %s", RANK, step, type(error).__name__, error
            )
            time.sleep(90)
            continue
        train_step(model, optimizer, step, batch() + offset * 0.0)
    finish()


@scenario("ddp-quiet-exit")
def ddp_quiet_exit() -> None:
    """Rank 3 calls os._exit(0) at step 5 without a word, the others time out: rank 3, crash or desync."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        if RANK == 3 and step == 5:
            os._exit(0)
        train_step(model, optimizer, step, batch())
    finish()


@scenario("ddp-sigkill")
def ddp_sigkill() -> None:
    """Rank 2 is killed with SIGKILL while it waits for its gradients: rank crash, rank 2."""
    init()
    model, optimizer = trainee()
    for step in range(60):
        if RANK == 2 and step == 8:
            os.kill(os.getpid(), signal.SIGKILL)
        train_step(model, optimizer, step, batch())
    finish()


@scenario("ddp-runs-long")
def ddp_runs_long() -> None:
    """A job that goes on for minutes; what is injected comes from outside (a signal to its launcher)."""
    init()
    model, optimizer = trainee()
    for step in range(400):
        train_step(model, optimizer, step, batch())
        time.sleep(0.2)
    finish()


@scenario("ddp-model-differs")
def ddp_model_differs() -> None:
    """Rank 2 builds a deeper model than the others; DDP compares and refuses: desync or config, rank 2."""
    init()
    model = replicate(network(depth=4 if RANK == 2 else 3))
    train_step(model, optimise(model), 0, batch())
    finish()


@scenario("ddp-exit-code")
def ddp_exit_code() -> None:
    """Rank 1's input check calls sys.exit(3) with one line on stderr: rank crash or user code, rank 1."""
    init()
    model, optimizer = trainee()
    for step in range(12):
        if LOCAL_RANK == 1 and step == 3:
            import sys

            print("fatal: vocabulary has 50257 entries, tokenizer has 50304", file=sys.stderr, flush=True)
            sys.exit(3)
        train_step(model, optimizer, step, batch())
    finish()
