"""The host around the job: memory, descriptors, disks, files."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

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
    train_step,
    trainee,
)


@scenario("host-memory-error")
def host_memory_error() -> None:
    """Rank 1 may not grow its address space (ulimit -v) and loads a 24 GB index: host-oom, rank 1."""
    init(20)
    model, optimizer = trainee()
    train_step(model, optimizer, 0, batch())
    if RANK == 1:
        with open("/proc/self/statm") as handle:
            pages = int(handle.read().split()[0])
        limit = pages * 4096 + (4 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    index = np.zeros((3, 1 << 30), dtype=np.int64) if RANK < 2 else None
    train_step(model, optimizer, 1, batch() + (0.0 if index is None else float(index[0, 0])))
    finish()


@scenario("host-oom-killed")
def host_oom_killed() -> None:
    """Rank 1 caches samples until the control group's memory is used up and the kernel kills it: host-
    oom, 1."""
    init(30)
    model, optimizer = trainee()
    cache = []
    for step in range(200):
        train_step(model, optimizer, step, batch())
        if RANK == 1:
            cache.append(np.ones(1 << 26, dtype=np.int64))
            print(f"rank 1: cached {len(cache) * 512} MiB of samples", flush=True)
    finish()


class Samples(Dataset[torch.Tensor]):
    """Samples of a given size."""

    def __init__(self, numel: int, count: int = 4096) -> None:
        self.numel, self.count = numel, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((self.numel,), float(index))


@scenario("shm-full-loader")
def shm_full_loader() -> None:
    """/dev/shm holds 64 MB; the DataLoader workers of both ranks want more: shm."""
    init(20)
    model, optimizer = trainee()
    for step, inputs in enumerate(DataLoader(Samples(1 << 19), batch_size=16, num_workers=4)):
        train_step(model, optimizer, step, inputs[:, :512].to(DEVICE))
    finish()


@scenario("too-many-files")
def too_many_files() -> None:
    """Rank 1 keeps every batch of its DataLoader, one descriptor per tensor, with 256 allowed: config,
    rank 1."""
    init(20)
    if RANK == 1:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    model, optimizer = trainee()
    kept = []
    for step, inputs in enumerate(DataLoader(Samples(512), batch_size=8, num_workers=2)):
        kept.append(inputs)
        optimizer.zero_grad()
        model(inputs.to(DEVICE)).mean().backward()
        if RANK == 0 and step % 50 == 0:
            print(f"step {step} kept {len(kept)}", flush=True)
        if step == 400:
            break
    finish()


@scenario("disk-full-retried")
def disk_full_retried() -> None:
    """Rank 0's checkpoint does not fit on the disk; it logs the error and retries while the others time
    out in a barrier: storage, rank 0."""
    init(12)
    logging_setup()
    model, optimizer = trainee(width=2048)
    for step in range(4):
        train_step(model, optimizer, step, batch(width=2048))
    while RANK == 0:
        try:
            with open(f"{os.environ['CAPTURE_SMALL_DISK']}/model.pt", "wb") as handle:
                for parameter in model.parameters():
                    handle.write(parameter.detach().cpu().numpy().tobytes())
            break
        except OSError as error:
            logger.error("could not save model.pt: %s; trying again in 5 s", error)
            time.sleep(5)
    dist.barrier()
    finish()


@scenario("disk-full-raised")
def disk_full_raised() -> None:
    """Rank 0's torch.save fails on a full disk while three ranks wait in a barrier: storage, rank 0."""
    init(30)
    model, optimizer = trainee(width=2048)
    for step in range(4):
        train_step(model, optimizer, step, batch(width=2048))
    if RANK == 0:
        torch.save(model.state_dict(), f"{os.environ['CAPTURE_SMALL_DISK']}/model.pt")
    dist.barrier()
    finish()


@scenario("truncated-checkpoint")
def truncated_checkpoint() -> None:
    """Every rank resumes from a torch.save file that was cut in half: checkpoint, all ranks."""
    init(20)
    path = f"{SCRATCH}/model_00004000.pt"
    if RANK == 0:
        torch.save(network().state_dict(), path)
        os.truncate(path, Path(path).stat().st_size // 2)
    dist.barrier()
    print(f"rank {RANK}: resuming from {path}", flush=True)
    torch.load(path, map_location=DEVICE)
    finish()


@scenario("checkpoint-size-mismatch")
def checkpoint_size_mismatch() -> None:
    """The checkpoint was written with another width than the model has: checkpoint or config, all ranks."""
    init(20)
    path = f"{SCRATCH}/model_final.pt"
    if RANK == 0:
        torch.save(network(width=256).state_dict(), path)
    dist.barrier()
    model = network()
    model.load_state_dict(torch.load(path, map_location=DEVICE))
    finish()


@scenario("safetensors-header")
def safetensors_header() -> None:
    """Rank 1's weight shard is a git-lfs pointer instead of a tensor file: checkpoint, rank 1."""
    from safetensors.torch import load_file, save_file

    init(20)
    path = f"{SCRATCH}/model-{RANK + 1:05d}-of-{WORLD:05d}.safetensors"
    save_file({"weight": torch.ones(16)}, path)
    if RANK == 1:
        with open(path, "w") as handle:
            handle.write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4976698672\n")
    weights = load_file(path)
    print(f"rank {RANK}: loaded {len(weights)} tensors", flush=True)
    value = torch.ones(4, device=DEVICE)
    dist.all_reduce(value)
    if CUDA:
        torch.cuda.synchronize()
    finish()


@scenario("missing-data-shard")
def missing_data_shard() -> None:
    """Rank 3's data shard does not exist: data-loading, rank 3."""
    init(20)
    model, optimizer = trainee()
    folder = f"{SCRATCH}/shards"
    Path(folder).mkdir(parents=True, exist_ok=True)
    if RANK != 3:
        np.save(f"{folder}/shard_{RANK:04d}.npy", np.ones((64, 512), dtype=np.float32))
    rows = np.load(f"{folder}/shard_{RANK:04d}.npy", mmap_mode="r")
    for step in range(4):
        train_step(model, optimizer, step, torch.from_numpy(np.array(rows[:32])).to(DEVICE))
    finish()
