"""Files that are read and written: data, checkpoints, logs."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.utils.data import DataLoader, Dataset, IterableDataset

from scenarios import scenario
from scenarios.common import CUDA, DEVICE, RANK, WORLD, finish, optimise, replicate
from scenarios.programs.house import (
    OUTPUT,
    batch,
    connect,
    epochs,
    everyone,
    hugging,
    logger_of,
    megatron,
    mlp,
    nano,
    records,
    run_steps,
    say,
    small,
    speed,
    titan,
    update,
)

FOLDER = Path("data")


class Pictures(Dataset):
    """Small pictures on disk."""

    def __init__(self, damaged: int | None) -> None:
        from PIL import Image

        FOLDER.mkdir(exist_ok=True)
        for index in range(64):
            path = FOLDER / f"{RANK}_{index:06d}.jpg"
            Image.new("RGB", (48, 48), (index, RANK, 9)).save(path)
            if index == damaged:
                path.write_bytes(b"<html><body>503 Service Unavailable</body></html>")

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> torch.Tensor:
        from PIL import Image

        with Image.open(FOLDER / f"{RANK}_{index:06d}.jpg") as image:
            pixels = torch.frombuffer(bytearray(image.convert("L").tobytes()), dtype=torch.uint8)
        return pixels[:256].float() / 255


class Ragged(Dataset):
    """Rows, one of them shorter."""

    def __len__(self) -> int:
        return 96

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.rand(255 if RANK == 1 and index == 77 else 256)


class Members(IterableDataset):
    """Members of an archive."""

    def __iter__(self):
        with tarfile.open(FOLDER / f"train-{RANK:04d}.tar") as archive:
            for member in archive:
                handle = archive.extractfile(member)
                yield torch.frombuffer(bytearray(handle.read()), dtype=torch.uint8).float()[:256] / 255


@scenario("picture-unreadable")
def picture_unreadable() -> None:
    """A picture of rank 3 is an error page: data-loading, rank 3."""
    logger_of("mm")
    connect(14)
    model, optimizer = small()
    loader = DataLoader(Pictures(45 if RANK == 3 else None), batch_size=4, num_workers=2)
    for step, inputs in enumerate(loader):
        epochs(step + 1, update(model, optimizer, inputs.to(DEVICE)), 16)
    finish()


@scenario("table-footer-missing")
def table_footer_missing() -> None:
    """A Parquet file of rank 2 has no footer: data-loading, rank 2."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    log = logger_of("plain")
    connect(14)
    model, optimizer = small()
    FOLDER.mkdir(exist_ok=True)
    for part in range(4):
        path = FOLDER / f"part-{RANK:02d}-{part:03d}.snappy.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"x": numpy.random.rand(1024)}), path)
        if RANK == 2 and part == 2:
            path.write_bytes(path.read_bytes()[:3000])
        rows = pyarrow.parquet.read_table(path)["x"].to_numpy()
        log.info("[%d] read %d rows from %s", RANK, len(rows), path)
        run_steps(model, optimizer, everyone, part * 5, part * 5 + 5)
    finish()


@scenario("archive-cut")
def archive_cut() -> None:
    """The archive of rank 0 was cut: data-loading, rank 0."""
    logger_of("loguru")
    connect(14)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"train-{RANK:04d}.tar"
    with tarfile.open(path, "w") as archive:
        for index in range(64):
            info = tarfile.TarInfo(f"{index:06d}.bin")
            info.size = 4096
            archive.addfile(info, io.BytesIO(os.urandom(4096)))
    if RANK == 0:
        os.truncate(path, 200_000)
    model, optimizer = small()
    for step, inputs in enumerate(DataLoader(Members(), batch_size=4, num_workers=1)):
        everyone(step, update(model, optimizer, inputs.to(DEVICE)))
    finish()


@scenario("row-too-short")
def row_too_short() -> None:
    """One row of rank 1 is shorter than the others in its batch: data-loading, rank 1."""
    connect(14)
    model, optimizer = small()
    for step, inputs in enumerate(DataLoader(Ragged(), batch_size=6, num_workers=2, pin_memory=CUDA)):
        records(step, update(model, optimizer, inputs.to(DEVICE)))
    finish()


@scenario("compressed-file-cut")
def compressed_file_cut() -> None:
    """A compressed file of rank 3 ends early: data-loading, rank 3."""
    log = logger_of("hf")
    connect(14)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"c4-train.{RANK:05d}-of-01024.json.gz"
    with gzip.open(path, "wt") as handle:
        for index in range(4000):
            handle.write(json.dumps({"text": f"{random.random()} {index}"}) + "\n")
    if RANK == 3:
        os.truncate(path, path.stat().st_size * 2 // 3)
    model, optimizer = small()
    with gzip.open(path, "rt") as handle:
        for step in range(20):
            lines = [json.loads(handle.readline())["text"] for _ in range(200)]
            log.info("rank %d: %d documents", RANK, (step + 1) * len(lines))
            hugging(step, update(model, optimizer, batch()))
    finish()


@scenario("async-save-fails")
def async_save_fails() -> None:
    """The asynchronous checkpoint cannot be written on rank 1: a directory of its name is in the way: checkpoint."""
    log = logger_of("titan")
    connect(20)
    control = dist.new_group(backend="gloo")
    model, optimizer = small()
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    sharded = fully_shard(mlp(), mesh=init_device_mesh(DEVICE.type, (WORLD,)))
    for step in range(1, 30):
        titan(step, update(model, optimizer, batch()))
        if step % 8 == 0:
            folder = OUTPUT / f"checkpoint/step-{step}"
            if step == 16:
                (folder / "__1_0.distcp").mkdir(parents=True, exist_ok=True)
            dist.barrier()
            log.info("saving the checkpoint (or staging if async is enabled).")
            pending = dcp.async_save(
                {"model": sharded.state_dict()}, checkpoint_id=str(folder), process_group=control
            )
            run_steps(model, optimizer, titan, step + 100, step + 104)
            pending.result()
            log.info("finished saving the checkpoint at step %d", step)
    finish()


@scenario("names-of-older-model")
def names_of_older_model() -> None:
    """The checkpoint has an older model's names: checkpoint, all ranks."""
    connect(14)
    if RANK == 0:
        torch.save(
            {f"model.{name}": value for name, value in mlp(256, 2).state_dict().items()}, OUTPUT / "last.ckpt"
        )
    dist.barrier()
    model = mlp(256, 3)
    say(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
    say("Resuming training from outputs/last.ckpt")
    model.load_state_dict(torch.load(OUTPUT / "last.ckpt", map_location="cpu"))
    model = replicate(model)
    run_steps(model, optimise(model), nano, 0, 10)
    finish()


@scenario("pickled-settings")
def pickled_settings() -> None:
    """The checkpoint holds pickled settings that the newer loader refuses: checkpoint, all ranks."""
    import argparse

    log = logger_of("plain")
    connect(14)
    if RANK == 0:
        torch.save(
            {"model": mlp().state_dict(), "args": argparse.Namespace(lr=1e-4, seed=1), "iteration": 1200},
            OUTPUT / "model_optim_rng.pt",
        )
    dist.barrier()
    log.info(" loading checkpoint from outputs at iteration 1200")
    state = torch.load(OUTPUT / "model_optim_rng.pt", map_location="cpu", weights_only=True)
    model = mlp()
    model.load_state_dict(state["model"])
    model = replicate(model)
    run_steps(model, optimise(model), megatron, 1200, 1210)
    finish()


@scenario("metrics-disk-full")
def metrics_disk_full() -> None:
    """The file system of rank 0's metrics is full: storage, rank 0."""
    connect(14)
    model, optimizer = small()
    writer = open(OUTPUT / "metrics.jsonl", "w") if RANK == 0 else None  # noqa: SIM115
    for step in range(40):
        loss = update(model, optimizer, batch())
        speed(step, loss)
        if writer:
            writer.write(json.dumps({"step": step, "loss": loss}) + "\n")
            if step == 10:
                writer.flush()
    finish()


@scenario("replay-shared")
def replay_shared() -> None:
    """The replay buffer does not fit into the small shared memory: shm, rank 0."""
    log = logger_of("bracket")
    connect(14)
    model, optimizer = small()
    run_steps(model, optimizer, everyone, 0, 6)
    if RANK == 0:
        log.info("allocating the replay buffer, capacity 4194304 transitions")
        buffer = torch.zeros(4194304, 256).share_memory_()
        log.info("replay buffer ready, %.0f MiB", buffer.nbytes / 2**20)
    run_steps(model, optimizer, everyone, 6, 12)
    finish()


@scenario("metrics-not-json")
def metrics_not_json() -> None:
    """Rank 0 writes a tensor into its metrics: user-code, rank 0."""
    log = logger_of("hf")
    connect(14)
    model, optimizer = small()
    for step in range(1, 20):
        value = update(model, optimizer, batch())
        hugging(step, value)
        if step % 10 == 0 and RANK == 0:
            metrics = {"step": step, "loss": value, "norm": model.module[0].weight.detach().norm()}
            (OUTPUT / "trainer_state.json").write_text(json.dumps(metrics, indent=2))
            log.info("Saving model checkpoint to outputs/checkpoint-%d", step)
    finish()
