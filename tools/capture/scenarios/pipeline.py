"""Pipeline parallelism: point-to-point messages that never meet, and one that works."""

from __future__ import annotations

import torch
import torch.distributed as dist

from scenarios import scenario
from scenarios.common import CUDA, DEVICE, RANK, WORLD, finish, init

SHAPE = (8, 1024)


def _stage(microbatches: int, sent: int) -> None:
    """One pass: take from the stage before, hand to the stage behind."""
    for index in range(max(microbatches, sent)):
        hidden = torch.ones(SHAPE, device=DEVICE)
        if RANK > 0 and index < microbatches:
            dist.recv(hidden, RANK - 1)
        if RANK < WORLD - 1 and index < sent:
            dist.send(hidden + 1, RANK + 1)
    if CUDA:
        torch.cuda.synchronize()


@scenario("pp-receive-without-send")
def pp_receive_without_send() -> None:
    """Stage 2 expects five microbatches, stage 1 sends four: desync, rank 2 (or 1)."""
    init()
    for step in range(4):
        last = step == 3
        _stage(microbatches=5 if last and RANK == 2 else 4, sent=4)
        print(f"stage {RANK}: step {step} done", flush=True)
        dist.all_reduce(torch.ones(1, device=DEVICE))
    finish()


@scenario("pp-wrong-peer")
def pp_wrong_peer() -> None:
    """Stage 1 sends to stage 3 what stage 2 waits for: desync, rank 1."""
    init()
    hidden = torch.ones(SHAPE, device=DEVICE)
    dist.all_reduce(hidden)
    if RANK > 0:
        dist.recv(hidden, RANK - 1)
    if RANK < WORLD - 1:
        dist.send(hidden, 3 if RANK == 1 else RANK + 1)
    if CUDA:
        torch.cuda.synchronize()
    print(f"stage {RANK}: forward done", flush=True)
    finish()


@scenario("pp-both-send-first")
def pp_both_send_first() -> None:
    """Stages 1 and 2 both send large tensors before they receive, a plain deadlock: hang or desync, 1 and
    2."""
    init()
    hidden = torch.ones(1 << 24, device=DEVICE)
    for step in range(3):
        if RANK in (1, 2):
            peer = 3 - RANK
            if step < 2 and RANK == 1:
                dist.recv(hidden, peer)
                dist.send(hidden, peer)
            else:
                dist.send(hidden, peer)
                dist.recv(hidden, peer)
        if CUDA:
            torch.cuda.synchronize()
        print(f"stage {RANK}: step {step} exchanged", flush=True)
        dist.all_reduce(torch.ones(1, device=DEVICE))
    finish()


@scenario("healthy-pp")
def healthy_pp() -> None:
    """Four pipeline stages over point-to-point messages, ends well: healthy."""
    init(60)
    for step in range(6):
        _stage(4, 4)
        total = torch.ones(1, device=DEVICE)
        dist.all_reduce(total)
        if RANK == WORLD - 1:
            print(
                f" iteration {step + 1:8d}/       6 | consumed samples: {(step + 1) * 32:12d} |", flush=True
            )
    finish()
