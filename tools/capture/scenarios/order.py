"""Ranks that issue other collectives than their peers, or in another order or number."""

from __future__ import annotations

import contextlib
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import (
    CUDA,
    DEVICE,
    LOCAL_RANK,
    RANK,
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


@scenario("no-sync-differs")
def no_sync_differs() -> None:
    """Rank 0 accumulates over four micro-batches where the others accumulate over two: desync, rank 0."""
    init(14)
    model, optimizer = trainee()
    every = 4 if RANK == 0 else 2
    for step in range(16):
        ends = (step + 1) % every == 0
        with contextlib.nullcontext() if ends else model.no_sync():
            model(batch()).square().mean().backward()
        if ends:
            optimizer.step()
            optimizer.zero_grad()
            print(f"[rank {RANK}] optimizer step at micro-batch {step}", flush=True)
        if CUDA:
            torch.cuda.synchronize()
    dist.barrier()
    finish()


@scenario("async-order-differs")
def async_order_differs() -> None:
    """Rank 2 starts two asynchronous collectives in the other order: desync, rank 2."""
    init(14)
    gradients = torch.ones(1 << 22, device=DEVICE)
    scales = torch.ones(1 << 20, device=DEVICE)
    gathered = torch.empty(WORLD << 20, device=DEVICE)
    for step in range(8):
        calls = [
            lambda: dist.all_reduce(gradients, async_op=True),
            lambda: dist.all_gather_into_tensor(gathered, scales, async_op=True),
        ]
        if RANK == 2 and step == 5:
            calls.reverse()
        for work in [call() for call in calls]:
            work.wait()
        if CUDA:
            torch.cuda.synchronize()
        if RANK == 0:
            print(f"iter {step} scale {scales.mean().item():.1f}", flush=True)
    finish()


@scenario("gather-object-skipped")
def gather_object_skipped() -> None:
    """Rank 1 has no metrics and leaves all_gather_object out, going on to train: desync, rank 1."""
    init(14)
    logging_setup()
    model, optimizer = trainee()
    for step in range(10):
        train_step(model, optimizer, step, batch())
        metrics = {} if RANK == 1 and step == 4 else {"accuracy": 0.5, "samples": 32}
        if step == 4 and metrics:
            logger.info("rank %d: gathering metrics", RANK)
            everyone: list[object] = [None] * WORLD
            dist.all_gather_object(everyone, metrics)
            logger.info("rank %d: %d reports", RANK, len(everyone))
    finish()


@scenario("object-list-length")
def object_list_length() -> None:
    """Rank 2 passes a list of two where the source broadcasts one object: desync or user code, rank 2."""
    init(14)
    for step in range(3):
        dist.all_reduce(torch.ones(256, device=DEVICE))
        print(f"rank {RANK} warm-up {step}", flush=True)
    payload: list[object] = [{"lr": 1e-4, "betas": (0.9, 0.95)} if RANK == 0 else None]
    if RANK == 2:
        payload.append(None)
    dist.broadcast_object_list(payload, src=0)
    print(f"rank {RANK} config {payload[0]}", flush=True)
    dist.barrier()
    print(f"rank {RANK} ready", flush=True)
    finish()


@scenario("barrier-on-one-rank")
def barrier_on_one_rank() -> None:
    """The barrier after a save stands inside 'if rank == 0': the others train on: desync, rank 0."""
    init(14)
    model, optimizer = trainee()
    for step in range(10):
        train_step(model, optimizer, step, batch())
        if step == 5 and RANK == 0:
            print("checkpoint saved: ckpt/step_5.pt", flush=True)
            dist.barrier()
    finish()


@scenario("fsdp-layer-skipped")
def fsdp_layer_skipped() -> None:
    """Layer drop with a seed of its own on rank 3: it gathers fewer layers than the others: desync, rank 3."""
    init(14)
    model, optimizer = optimised(sharded(depth=6))
    layers = [layer for layer in model.children() if isinstance(layer, nn.Linear)]
    for step in range(8):
        optimizer.zero_grad()
        hidden = batch()
        for index, layer in enumerate(layers[:-1]):
            if RANK == 3 and step == 4 and index == 2:
                continue
            hidden = layer(hidden).relu()
        loss = layers[-1](hidden).square().mean()
        loss.backward()
        optimizer.step()
        if CUDA:
            torch.cuda.synchronize()
        print(f"rank {RANK} step {step} loss {loss.item():.4f}", flush=True)
    finish()


@scenario("exception-swallowed-drift")
def exception_swallowed_drift() -> None:
    """Rank 3 catches a RuntimeError, logs it with its traceback and continues one step ahead: user code or
    desync, rank 3."""
    init(14)
    logging_setup()
    model, optimizer = trainee()
    for step in range(12):
        try:
            width = 511 if RANK == 3 and step == 6 else 512
            train_step(model, optimizer, step, batch(width=width))
        except RuntimeError:
            logger.exception("batch %d failed, continuing with the next one", step)
    dist.barrier()
    finish()


@scenario("validation-on-one-rank-returns")
def validation_on_one_rank_returns() -> None:
    """Rank 2 stops early on its own patience, says so and exits with 0; the others train on: desync,
    rank 2."""
    init(14)
    logging_setup()
    model, optimizer = trainee()
    for step in range(14):
        train_step(model, optimizer, step, batch())
        if RANK == 2 and step == 7:
            logger.info("rank %d: early stopping: no improvement for 3 evaluations", RANK)
            raise SystemExit(0)
    finish()


@scenario("dtype-differs")
def dtype_differs() -> None:
    """Rank 0 reduces its metrics in float64, the others in float32: desync, rank 0."""
    init(14)
    for step in range(5):
        kind = torch.float64 if RANK == 0 and step == 3 else torch.float32
        dist.all_reduce(torch.ones(1024, device=DEVICE, dtype=kind))
        if CUDA:
            torch.cuda.synchronize()
        print(f"rank {RANK}: metrics of step {step} reduced", flush=True)
    finish()


@scenario("fsdp-uneven-loader")
def fsdp_uneven_loader() -> None:
    """FSDP2: rank 1's loader has two batches less, it goes on to the barrier of the epoch: desync, rank 1."""
    init(14)
    logging_setup()
    model, optimizer = optimised(sharded())
    for step in range(7 if RANK == 1 else 9):
        train_step(model, optimizer, step, batch())
    logger.info("rank %d: epoch 0 done", RANK)
    dist.barrier()
    for step in range(9, 12):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("backend-differs")
def backend_differs() -> None:
    """Rank 2 falls back to gloo because it was told not to use its GPU, the others use NCCL: config or
    desync, rank 2."""
    if CUDA and RANK != 2:
        torch.cuda.set_device(LOCAL_RANK)
    backend = "nccl" if CUDA and RANK != 2 else "gloo"
    print(f"rank {RANK}: backend {backend}", flush=True)
    dist.init_process_group(backend, timeout=timedelta(seconds=14))
    device = torch.device("cpu") if RANK == 2 else DEVICE
    for step in range(3):
        value = torch.ones(64, device=device)
        dist.all_reduce(value)
        print(f"rank {RANK} step {step}: {value[0].item():.0f}", flush=True)
    finish()
