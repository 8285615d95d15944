"""Jobs that do not get past starting: names, ranks, devices, NCCL settings."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

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
    network,
    train_step,
    trainee,
)


def _train(steps: int = 8) -> None:
    model, optimizer = trainee()
    for step in range(steps):
        train_step(model, optimizer, step, batch())
    if RANK == 0:
        print("training complete", flush=True)
    finish()


@scenario("plain")
def plain() -> None:
    """Trains eight steps and ends; faults come from the environment that the plan sets."""
    init(20)
    _train()


@scenario("plain-eager")
def plain_eager() -> None:
    """Like plain, but the communicator is created at start (device_id is given)."""
    init(20, eager=True)
    _train()


@scenario("plain-gpu")
def plain_gpu() -> None:
    """Like plain, but insists on a GPU before anything else."""
    torch.cuda.set_device(LOCAL_RANK)
    init(20)
    _train()


@scenario("mesh-too-big")
def mesh_too_big() -> None:
    """A 2 x 4 mesh on four ranks: config."""
    init(20)
    init_device_mesh("cuda" if CUDA else "cpu", (2, 4), mesh_dim_names=("dp", "tp"))
    finish()


@scenario("never-joins")
def never_joins() -> None:
    """Rank 3 prepares data for minutes before it joins the process group: rendezvous or straggler, rank 3."""
    if RANK == 3:
        time.sleep(100)
    init(15)
    _train()


@scenario("first-collective-late")
def first_collective_late() -> None:
    """Rank 1 joins but loads weights past the timeout before its first collective: straggler, rank 1."""
    init(12)
    print(f"rank {RANK}: loading weights", flush=True)
    if RANK == 1:
        time.sleep(60)
    print(f"rank {RANK}: weights loaded", flush=True)
    _train()


@scenario("no-set-device")
def no_set_device() -> None:
    """Nobody calls set_device, every rank uses cuda:0: config, cannot be told."""
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = network().to("cuda:0") if CUDA else network()
    value = torch.ones(8, device="cuda:0" if CUDA else "cpu") * LOCAL_RANK
    dist.all_reduce(value)
    print(f"rank {RANK}: {value[0].item()} {type(model).__name__}", flush=True)
    finish()


@scenario("late-server")
def late_server() -> None:
    """Rank 0 starts its store 12 s after the others try to connect, all goes well then: healthy."""
    logging_setup()
    if RANK == 0:
        logger.info("waiting for the tokenizer to download")
        time.sleep(12)
    init(60)
    logger.info("rank %d of %d joined", RANK, WORLD)
    _train()


@scenario("gloo-late-rank")
def gloo_late_rank() -> None:
    """A gloo side group for object collectives times out because rank 2 is late: straggler, rank 2."""
    init(60)
    side = dist.new_group(backend="gloo", timeout=timedelta(seconds=8))
    value = torch.ones(4, device=DEVICE)
    dist.all_reduce(value)
    if RANK == 2:
        time.sleep(25)
    gathered: list[object] = [None] * WORLD
    dist.all_gather_object(gathered, {"rank": RANK, "pid": os.getpid()}, group=side)
    print(f"rank {RANK}: {len(gathered)} reports", flush=True)
    finish()
