"""Memory that runs out."""

from __future__ import annotations

import logging
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import DEVICE, LOCAL_RANK, RANK, finish, optimise, replicate
from scenarios.programs.house import batch, connect, everyone, logger_of, mlp, run_steps, small, update


@scenario("table-too-large")
def table_too_large() -> None:
    """Rank 1's part of the tables is too large for its optimizer states: gpu-oom, rank 1."""
    log = logger_of("bracket")
    connect(40)
    rows = 34_000_000 if RANK == 1 else 2_000_000
    table = nn.Parameter(torch.zeros(rows, 256, device=DEVICE))
    dense = replicate(mlp())
    optimizer = torch.optim.Adam([{"params": [table], "lr": 1e-2}, {"params": dense.parameters()}], lr=1e-3)
    log.info("planner: %d rows x 256 on this rank, %.1f GiB", rows, rows * 1024 / 2**30)
    for step in range(6):
        picked = table[torch.randint(0, rows, (64,), device=DEVICE)]
        loss = dense(picked + batch(64)).square().mean()
        loss.backward()
        log.info("step %d: backward done, allocated %.1f GiB", step, torch.cuda.memory_allocated() / 2**30)
        optimizer.step()
        optimizer.zero_grad()
        everyone(step, loss.item())
    finish()


@scenario("holes-between-blocks")
def holes_between_blocks() -> None:
    """Rank 0's cache is full of holes, a request for less than what it keeps fails: gpu-oom-fragmentation, rank 0."""
    log = logger_of("plain")
    connect(40)
    model, optimizer = small()
    run_steps(model, optimizer, everyone, 0, 4)
    kept = []
    gib = 1 << 30
    if RANK == 0:
        free, _ = torch.cuda.mem_get_info()
        segments = [
            torch.empty(4 * gib, dtype=torch.uint8, device=DEVICE) for _ in range(int(free / gib) // 4)
        ]
        del segments
        for length in range(int(free / gib) // 4):
            parts = [
                torch.empty(int(size * gib), dtype=torch.uint8, device=DEVICE) for size in (1.2, 1.4, 1.2)
            ]
            kept.append(parts)
            if length % 8 == 0:
                log.info(
                    "bucket %d: %.2f GiB allocated, %.2f GiB reserved",
                    length,
                    torch.cuda.memory_allocated() / gib,
                    torch.cuda.memory_reserved() / gib,
                )
        kept = [parts[1] for parts in kept]
        del parts
    run_steps(model, optimizer, everyone, 4, 8)
    wanted = 3 * gib if RANK == 0 else gib
    hidden = torch.empty(wanted, dtype=torch.uint8, device=DEVICE)
    hidden.zero_()
    run_steps(model, optimizer, everyone, 8, 14)
    finish()


@scenario("memory-of-the-job")
def memory_of_the_job() -> None:
    """Rank 1 keeps every batch on the host, the control group's limit kills it: host-oom, rank 1."""
    connect(14)
    logger_of("rank")
    model, optimizer = small()
    cache = []
    limit = Path(
        "/sys/fs/cgroup" + Path("/proc/self/cgroup").read_text().split("::")[1].strip(), "memory.max"
    )
    used = limit.with_name("memory.current")
    for step in range(200):
        cache.append(torch.ones((400 if RANK == 1 else 2) << 18))
        loss = update(model, optimizer, batch())
        if step % 3 == 0:
            everyone(step, loss)
            logging.getLogger("memory").info(
                "host %.2f of %s GiB in use by the job",
                int(used.read_text()) / 2**30,
                round(int(limit.read_text()) / 2**30, 1),
            )
    finish()


@scenario("table-on-the-host")
def table_on_the_host() -> None:
    """Rank 2 asks the host for more memory than there is: host-oom, rank 2."""
    log = logger_of("glog")
    connect(14)
    model, optimizer = small()
    run_steps(model, optimizer, everyone, 0, 6)
    documents = {0: 240_000, 1: 250_000, 2: 460_000_000, 3: 245_000}.get(RANK, 1)
    log.info("shard %d: %d documents, padding to 1024 tokens", RANK, documents)
    tokens = torch.empty(documents, 1024, dtype=torch.int32)
    log.info("shard %d: %.1f GiB", RANK, tokens.nbytes / 2**30)
    run_steps(model, optimizer, everyone, 6, 16)
    finish()


@scenario("pool-of-another-library")
def pool_of_another_library() -> None:
    """Rank 1's preprocessing keeps the whole GPU in another library's pool, NCCL gets none: gpu-oom, rank 1."""
    import cupy

    log = logger_of("plain")
    connect(30, eager=False)
    features = []
    cupy.cuda.Device(LOCAL_RANK).use()
    wanted = (torch.cuda.mem_get_info()[0] >> 20) - 110 if RANK == 1 else 2048
    while wanted > 0:
        size = min(wanted, 4096)
        features.append(cupy.zeros(size << 18, dtype=cupy.float32))
        wanted -= size
    log.info("rank %d: feature store on the device, %.1f GiB", RANK, sum(f.nbytes for f in features) / 2**30)
    count = torch.tensor([len(features)], device=DEVICE)
    dist.all_reduce(count)
    log.info("rank %d: %d chunks in all", RANK, count.item())
    model = replicate(mlp())
    run_steps(model, optimise(model), everyone, 0, 10)
    finish()
