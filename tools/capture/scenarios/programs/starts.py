"""Settings, launches, networks, versions."""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

from scenarios import scenario
from scenarios.common import DEVICE, LOCAL_RANK, RANK, WORLD, finish, optimise, optimised, replicate
from scenarios.programs.house import (
    batch,
    connect,
    everyone,
    hugging,
    logger_of,
    megatron,
    mlp,
    run_steps,
    say,
    small,
    titan,
    update,
)
from scenarios.programs.trainers import log_every, log_timm, trainer_logger


@scenario("trains-steadily")
def trains_steadily() -> None:
    """Trains without a fault; what surrounds it is what fails."""
    logger_of("rank")
    logging.getLogger("train").info("torch %s, world size %d, device %s", torch.__version__, WORLD, DEVICE)
    connect(14, eager=False)
    model = replicate(mlp())
    run_steps(model, optimise(model), everyone, 0, 30)
    finish()


@scenario("trains-quietly")
def trains_quietly() -> None:
    """Trains without a fault, reports on the first rank."""
    connect(14)
    model, optimizer = optimised(replicate(mlp(1024, 4)))
    say(f"model on {WORLD} ranks, {sum(p.numel() for p in model.parameters()):,} parameters")
    for step in range(30):
        megatron(step, update(model, optimizer, batch(64, 1024)), 30)
    finish()


@scenario("reduces-large")
def reduces_large() -> None:
    """Trains with reductions of some MiB, without a fault."""
    log = logger_of("bracket")
    connect(14, eager=False)
    weight = torch.zeros(2048, 2048, device=DEVICE)
    log.info("start, %d ranks", WORLD)
    for step in range(20):
        gradient = torch.randn_like(weight)
        dist.all_reduce(gradient)
        weight -= 1e-3 * gradient
        everyone(step, weight.square().mean().item())
        time.sleep(0.1)
    finish()


@scenario("plain-tensor-in-mesh")
def plain_tensor_in_mesh() -> None:
    """A distributed parameter meets a plain tensor: user-code, all ranks."""
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    connect(14)
    logger_of("titan")
    mesh = init_device_mesh(DEVICE.type, (2, 2), mesh_dim_names=("dp", "tp"))
    model = parallelize_module(
        nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(DEVICE),
        mesh["tp"],
        {"0": ColwiseParallel(), "2": RowwiseParallel()},
    )
    optimizer = optimise(model)
    for step in range(1, 20):
        loss = model(batch()).square().mean()
        if step == 5:
            loss = loss + 0.1 * (model[0].weight @ torch.randn(256, 8, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        titan(step, loss.item())
    finish()


@scenario("model-not-cached")
def model_not_cached() -> None:
    """The model is not in the cache and the hub is out of reach: auth-or-hub, all ranks."""
    from transformers import AutoModelForCausalLM

    log = logger_of("hf")
    connect(30)
    log.info("loading meta-llama/Llama-3.1-8B")
    model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B")
    model = replicate(model.to(DEVICE))
    run_steps(model, optimise(model), hugging, 0, 10)
    finish()


@scenario("library-needs-older")
def library_needs_older() -> None:
    """An extension wants a library of another version: driver-or-version, all ranks."""
    logger_of("plain")
    connect(14)
    ctypes.CDLL("./libfused_ops.so")
    model = replicate(mlp())
    run_steps(model, optimise(model), everyone, 0, 10)
    finish()


@scenario("tracker-missing")
def tracker_missing() -> None:
    """The package of the experiment tracker is not installed, only rank 0 imports it: config, rank 0."""
    log = logger_of("rank")
    connect(12)
    model, optimizer = small()
    if RANK == 0:
        import wandb

        wandb.init(project="pretrain")
    log.info("tracker ready")
    dist.barrier()
    run_steps(model, optimizer, everyone, 0, 10)
    finish()


@scenario("batch-not-divisible")
def batch_not_divisible() -> None:
    """The global batch cannot be divided among the ranks: config, all ranks."""
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--micro-batch-size", type=int, default=4)
    parser.add_argument("--global-batch-size", type=int, default=40)
    args = parser.parse_args()
    connect(14)
    say("> building train, validation, and test datasets ...")
    assert args.global_batch_size % (args.micro_batch_size * WORLD) == 0, (
        f"global batch size ({args.global_batch_size}) is not divisible by micro batch size "
        f"({args.micro_batch_size}) times data parallel size ({WORLD})"
    )
    model = replicate(mlp())
    run_steps(model, optimise(model), megatron, 0, 10)
    finish()


@scenario("argument-unknown")
def argument_unknown() -> None:
    """A flag of the command line is not known: config, all ranks."""
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--micro-batch-size", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.parse_args()
    connect(14)
    model = replicate(mlp())
    run_steps(model, optimise(model), megatron, 0, 10)
    finish()


@scenario("trains-over-gloo")
def trains_over_gloo() -> None:
    """Trains over gloo on the host, without a fault."""
    log = logger_of("plain")
    log.info("rank %d of %d starting", RANK, WORLD)
    connect(20, backend="gloo")
    model = DistributedDataParallel(nn.Linear(64, 64))
    optimizer = optimise(model)
    for step in range(30):
        everyone(step, update(model, optimizer, torch.randn(16, 64)))
    finish()


@scenario("steady-steps")
def steady_steps() -> None:
    """Trains without a fault; what comes from outside ends it."""
    trainer_logger("absl")
    connect(14)
    model = replicate(mlp())
    run_steps(model, optimise(model), log_timm, 0, 300)
    finish()


@scenario("steady-start")
def steady_start() -> None:
    """Trains without a fault; its surroundings are what fails."""
    log = trainer_logger("short")
    log.info(
        "rank %d of %d: torch %s, rendezvous at %s:%s",
        RANK,
        WORLD,
        torch.__version__,
        os.environ["MASTER_ADDR"],
        os.environ["MASTER_PORT"],
    )
    connect(18)
    log.info("rank %d: connected", RANK)
    model = replicate(mlp())
    run_steps(model, optimise(model), log_every, 0, 30)
    finish()


@scenario("steady-device")
def steady_device() -> None:
    """Trains without a fault, takes its card first."""
    log = trainer_logger("fairseq")
    log.info("distributed init (rank %d): env://", RANK)
    torch.cuda.set_device(LOCAL_RANK)
    connect(18)
    log.info("initialized host %s as rank %d", socket.gethostname(), RANK)
    model = replicate(mlp())
    run_steps(model, optimise(model), log_every, 0, 30)
    finish()
