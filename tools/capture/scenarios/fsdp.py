"""Sharded training (FSDP2): state dicts on one rank, checkpoints, out-of-memory inside a step."""

from __future__ import annotations

import resource
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

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
    network,
    optimise,
    optimised,
    train_step,
)


def sharded(width: int = 512, depth: int = 3) -> nn.Module:
    """A network whose linear layers are sharded one by one."""
    mesh = init_device_mesh("cuda" if CUDA else "cpu", (WORLD,))
    model = network(width, depth)
    for layer in model.children():
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


@scenario("fsdp-state-dict-one-rank")
def fsdp_state_dict_one_rank() -> None:
    """Rank 0 alone asks for the full state dict, which gathers from all; the others train on: desync,
    rank 0."""
    init()
    logging_setup()
    model, optimizer = optimised(sharded())
    for step in range(10):
        train_step(model, optimizer, step, batch())
        if step == 4 and RANK == 0:
            logger.info("exporting weights at step %d", step)
            options = StateDictOptions(full_state_dict=True, cpu_offload=True)
            state = get_model_state_dict(model, options=options)
            logger.info("exported %d tensors", len(state))
    finish()


@scenario("fsdp-long-sequence-oom")
def fsdp_long_sequence_oom() -> None:
    """One batch on rank 2 holds a document of 131072 tokens, its attention scores do not fit: gpu-oom,
    rank 2."""
    init(30)
    model, optimizer = optimised(sharded())
    for step in range(10):
        length = 131072 if RANK == 2 and step == 5 else 1024
        query = torch.randn(1, 16, length, 64, device=DEVICE, dtype=torch.bfloat16)
        scores = torch.matmul(query, query.transpose(-1, -2)).softmax(-1)
        train_step(model, optimizer, step, batch() + scores.mean().float() * 0)
    finish()


@scenario("fsdp-oom-swallowed")
def fsdp_oom_swallowed() -> None:
    """Rank 1 runs out of memory, prints that it skips the batch, and is one step ahead from there: gpu-oom or
    desync, rank 1."""
    init()
    model, optimizer = optimised(sharded())
    for step in range(10):
        try:
            if RANK == 1 and step == 5:
                batch(size=1 << 27)
            inputs = batch()
        except torch.cuda.OutOfMemoryError as error:
            print(f"| WARNING: ran out of memory, skipping batch: {error}", flush=True)
            torch.cuda.empty_cache()
            continue
        train_step(model, optimizer, step, inputs)
    dist.barrier()
    finish()


@scenario("dcp-save-fails-one-rank")
def dcp_save_fails_one_rank() -> None:
    """Rank 1 may write files of 64 KiB at most, its shard does not fit: storage or checkpoint, rank 1."""
    init(30)
    model, optimizer = optimised(sharded(width=1024))
    for step in range(3):
        train_step(model, optimizer, step, batch(width=1024))
    if RANK == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    dcp.save({"model": model.state_dict()}, checkpoint_id=f"{SCRATCH}/ckpt/step_3")
    finish()


@scenario("dcp-shard-missing")
def dcp_shard_missing() -> None:
    """One shard file of a sharded checkpoint was deleted before it is loaded: checkpoint, rank 3's shard."""
    init(30)
    model = sharded(width=1024)
    folder = f"{SCRATCH}/ckpt/step_9"
    dcp.save({"model": model.state_dict()}, checkpoint_id=folder)
    dist.barrier()
    if RANK == 0:
        Path(folder, "__3_0.distcp").unlink()
    dist.barrier()
    print(f"rank {RANK}: resuming from step_9", flush=True)
    dcp.load({"model": model.state_dict()}, checkpoint_id=folder)
    finish()


@scenario("healthy-fsdp-compile")
def healthy_fsdp_compile() -> None:
    """FSDP2 with torch.compile, saves and loads a sharded checkpoint, ends well: healthy."""
    init(60)
    logging_setup()
    model = sharded()
    compiled = torch.compile(model)
    optimizer = optimise(model)
    for step in range(10):
        train_step(compiled, optimizer, step, batch(size=32 if step < 5 else 48))
    dcp.save({"model": model.state_dict()}, checkpoint_id=f"{SCRATCH}/ckpt/step_10")
    dcp.load({"model": model.state_dict()}, checkpoint_id=f"{SCRATCH}/ckpt/step_10")
    logger.info("training finished")
    finish()
