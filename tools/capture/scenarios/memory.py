"""Memory of the GPU: too little, taken by others, in pieces, or recovered from."""

from __future__ import annotations

import torch
import torch.distributed as dist

from scenarios import scenario
from scenarios.common import (
    DEVICE,
    LOCAL_RANK,
    RANK,
    batch,
    finish,
    init,
    train_step,
    trainee,
)

MIB = 1 << 20


def cap(gib: float) -> None:
    """Let this process use so many GiB of its GPU."""
    total = torch.cuda.get_device_properties(LOCAL_RANK).total_memory
    torch.cuda.set_per_process_memory_fraction(gib * 1024 * MIB / total, LOCAL_RANK)


@scenario("oom-other-process")
def oom_other_process() -> None:
    """GPU 1 is nearly full of another process's memory when the job starts: gpu-oom, rank 1."""
    init(30)
    model, optimizer = trainee(width=4096, depth=4)
    for step in range(6):
        hidden = [batch(size=1 << 17, width=4096) for _ in range(4)]
        train_step(model, optimizer, step, hidden[-1])
    finish()


@scenario("oom-all-ranks")
def oom_all_ranks() -> None:
    """The batch grows at step 3 past the 6 GiB that every rank may use: gpu-oom, all ranks."""
    init(30)
    cap(6)
    model, optimizer = trainee(width=2048)
    for step in range(6):
        train_step(model, optimizer, step, batch(size=1 << (14 if step < 3 else 20), width=2048))
    finish()


@scenario("oom-leak")
def oom_leak() -> None:
    """Rank 0 keeps every step's activations in a list until its 5 GiB are full: gpu-oom, rank 0."""
    init(20)
    cap(5)
    model, optimizer = trainee()
    history = []
    for step in range(60):
        train_step(model, optimizer, step, batch())
        if RANK == 0:
            history.append(torch.randn(96 * MIB, device=DEVICE))
            print(f"step {step} memory {torch.cuda.memory_allocated() / 1024 / MIB:.2f} GiB", flush=True)
    finish()


@scenario("oom-fragmentation")
def oom_fragmentation() -> None:
    """Rank 1's 4 GiB are held in 20 MiB segments that are each one fifth full, then 1 GiB is asked for in one
    piece: gpu-oom-fragmentation, rank 1."""
    init(20)
    cap(4.5)
    model, optimizer = trainee()
    for step in range(4):
        train_step(model, optimizer, step, batch())
    cache = [torch.empty(4 * MIB, dtype=torch.uint8, device=DEVICE) for _ in range(1000 if RANK == 1 else 10)]
    cache = cache[::5]
    print(
        f"rank {RANK}: allocated {torch.cuda.memory_allocated() // MIB} MiB, "
        f"reserved {torch.cuda.memory_reserved() // MIB} MiB",
        flush=True,
    )
    for step in range(4, 8):
        train_step(model, optimizer, step, batch(size=1 << 19 if step == 6 and RANK == 1 else 32))
    finish()


@scenario("oom-interleaved")
def oom_interleaved() -> None:
    """Rank 1 fills its whole GPU with large and small blocks in turn, frees the large ones, and asks for 12
    GiB in one piece: gpu-oom-fragmentation, rank 1."""
    init(40)
    model, optimizer = trainee()
    kept, freed = [], []
    free, _ = torch.cuda.mem_get_info()
    pairs = (free - 2048 * MIB) // (20 * MIB) * 2 if RANK == 1 else 16
    for _ in range(pairs):
        freed.append(torch.empty(8 * MIB, dtype=torch.uint8, device=DEVICE))
        kept.append(torch.empty(3 * MIB // 2, dtype=torch.uint8, device=DEVICE))
    freed.clear()
    print(f"[{RANK}] cached {len(kept)} segments of activations", flush=True)
    for step in range(6):
        if RANK == 1 and step == 4:
            kept.append(torch.empty(12 * 1024 * MIB, dtype=torch.uint8, device=DEVICE))
        train_step(model, optimizer, step, batch())
    finish()


@scenario("oom-gather-logits")
def oom_gather_logits() -> None:
    """Rank 0 gathers everybody's logits into the 3 GiB that it may use: gpu-oom, rank 0."""
    init(25)
    cap(3)
    model, optimizer = trainee()
    for step in range(4):
        train_step(model, optimizer, step, batch())
    logits = torch.ones(200 * MIB, device=DEVICE)
    parts = [torch.empty_like(logits) for _ in range(dist.get_world_size())] if RANK == 0 else None
    dist.gather(logits, parts, dst=0)
    torch.cuda.synchronize()
    print(f"rank {RANK}: logits gathered", flush=True)
    finish()


@scenario("healthy-oom-recovered")
def healthy_oom_recovered() -> None:
    """Every rank halves its batch until it fits in 4 GiB, then trains and ends well: healthy, with a
    warning."""
    init(60)
    cap(4)
    model, optimizer = trainee(width=2048)
    size = 1 << 20
    while True:
        try:
            with model.no_sync():
                model(batch(size=size, width=2048)).mean().backward()
            break
        except torch.cuda.OutOfMemoryError as error:
            print(f"rank {RANK}: batch size {size} does not fit ({error})", flush=True)
            optimizer.zero_grad()
            torch.cuda.empty_cache()
            size //= 4
    print(f"rank {RANK}: using batch size {size}", flush=True)
    dist.barrier()
    for step in range(8):
        train_step(model, optimizer, step, batch(size=size // 4, width=2048))
    if RANK == 0:
        print("training complete", flush=True)
    finish()
