"""Memory that runs out."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import DEVICE, LOCAL_RANK, RANK, finish, optimise, replicate
from scenarios.programs.house import batch, connect, everyone, logger_of, mlp, run_steps, small, update
from scenarios.programs.trainers import log_plain, log_trainer, trainer_logger


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


class Attention(nn.Module):
    def __init__(self, width: int = 512, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1)
        weights = weights.softmax(dim=-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, t, c))


@scenario("long-sequence")
def long_sequence() -> None:
    """Rank 1's seventh batch is six times longer, the backward does not fit: gpu-oom, rank 1."""
    log = trainer_logger("axolotl")
    connect(14)
    model = replicate(nn.Sequential(*[Attention() for _ in range(6)]).to(DEVICE))
    optimizer = optimise(model)
    for step in range(12):
        length = 24576 if RANK == 1 and step == 7 else random.choice([3584, 3840, 4096])
        log.info("batch %d: padded to %d tokens", step, length)
        loss = model(torch.randn(1, length, 512, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log_trainer(step, loss.item())
    finish()


@scenario("first-optimizer-step")
def first_optimizer_step() -> None:
    """Parameters and gradients fit, the state of AdamW does not: gpu-oom, all ranks."""
    log = trainer_logger("accelerate")
    connect(60)
    model = nn.Sequential(*[nn.Linear(40000, 40000, bias=False, device=DEVICE) for _ in range(6)])
    log.info("***** Running training *****")
    log.info("  Number of trainable parameters = %s", f"{sum(p.numel() for p in model.parameters()):,}")
    model = replicate(model, gradient_as_bucket_view=True)
    optimizer = optimise(model)
    for step in range(4):
        loss = model(batch(4, 40000)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log_trainer(step, loss.item())
    finish()


@scenario("replay-on-device")
def replay_on_device() -> None:
    """Another process holds most of GPU 0, rank 0's buffer does not fit: gpu-oom, rank 0."""
    log = trainer_logger("short", "learner")
    connect(25)
    model, optimizer = small()
    log.info("rank %d: allocating rollout storage", RANK)
    frames = torch.zeros(32, 1 << 30, dtype=torch.uint8, device=DEVICE)
    log.info("rank %d: rollout storage ready, %d GiB", RANK, frames.nbytes >> 30)
    dist.barrier()
    run_steps(model, optimizer, log_plain, 0, 20)
    finish()
