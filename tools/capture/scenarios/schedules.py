"""Pipeline schedules of torch.distributed.pipelining, and batched point-to-point messages."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from scenarios import scenario
from scenarios.common import CUDA, DEVICE, RANK, WORLD, finish, init


def _train(microbatches: int, steps: int = 4) -> None:
    width, rows = 256, 16
    stage = PipelineStage(nn.Linear(width, width).to(DEVICE), RANK, WORLD, DEVICE)
    schedule = Schedule1F1B(
        stage, n_microbatches=microbatches, loss_fn=lambda out, want: (out - want).square().mean()
    )
    inputs, target = torch.randn(rows, width, device=DEVICE), torch.zeros(rows, width, device=DEVICE)
    for step in range(steps):
        if RANK == 0:
            schedule.step(inputs)
        elif RANK == WORLD - 1:
            losses: list[torch.Tensor] = []
            schedule.step(target=target, losses=losses)
            print(f"step {step} loss {torch.stack(losses).mean().item():.4f}", flush=True)
        else:
            schedule.step()
        if CUDA:
            torch.cuda.synchronize()
        print(f"stage {RANK} finished step {step}", flush=True)


@scenario("pp-microbatches-differ")
def pp_microbatches_differ() -> None:
    """Stage 2 is configured for eight micro-batches, the others for four: desync or config, rank 2."""
    init(14)
    _train(8 if RANK == 2 else 4)
    finish()


@scenario("pp-ring-reversed")
def pp_ring_reversed() -> None:
    """A ring of batched sends and receives; rank 1 turns the other way round once: desync, rank 1."""
    init(14)
    for step in range(8):
        forth, back = (RANK + 1) % WORLD, (RANK - 1) % WORLD
        if RANK == 1 and step == 5:
            forth, back = back, forth
        key, received = torch.ones(1 << 20, device=DEVICE), torch.empty(1 << 20, device=DEVICE)
        operations = [dist.P2POp(dist.isend, key, forth), dist.P2POp(dist.irecv, received, back)]
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        if CUDA:
            torch.cuda.synchronize()
        print(f"rank {RANK}: ring step {step} done", flush=True)
    finish()


@scenario("pp-shape-differs")
def pp_shape_differs() -> None:
    """Stage 2 expects twice the activations that stage 1 sends: desync or config, ranks 1 and 2."""
    init(14)
    for step in range(5):
        width = 1 << 21
        hidden = torch.ones(width * (2 if RANK == 2 and step == 3 else 1), device=DEVICE)
        if RANK > 0:
            dist.recv(hidden, RANK - 1)
        if RANK < WORLD - 1:
            dist.send(hidden[:width].contiguous(), RANK + 1)
        if CUDA:
            torch.cuda.synchronize()
        print(f"stage {RANK}: step {step} passed on", flush=True)
    finish()
