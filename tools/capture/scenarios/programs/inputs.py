"""Files that are read and written: data, checkpoints, logs."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
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
from scenarios.programs.trainers import log_d2, log_megatron, log_olmo, log_trainer, trainer_logger

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


def write_corpus(folder: Path, rank: int, damaged: int | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"train-{rank:05d}-of-{WORLD:05d}.jsonl"
    lines = [
        json.dumps({"id": f"{rank}-{i}", "text": "lorem ipsum " * 5, "length": 60 + i % 7})
        for i in range(640)
    ]
    if damaged is not None:
        lines[damaged] = lines[damaged][:47]
    path.write_text("\n".join(lines) + "\n")
    return path


class Corpus(Dataset):
    def __init__(self, path: Path) -> None:
        self.lines = path.read_text().splitlines()

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: int) -> torch.Tensor:
        record = json.loads(self.lines[index])
        return torch.full((256,), float(record["length"]) / 100)


@scenario("line-of-corpus")
def line_of_corpus() -> None:
    """A line of rank 2's corpus is cut, a loader worker raises: data-loading, rank 2."""
    log = trainer_logger("loguru")
    connect(14)
    path = write_corpus(Path("corpus"), RANK, 421 if RANK == 2 else None)
    loader = DataLoader(Corpus(path), batch_size=16, num_workers=2)
    model, optimizer = small()
    log.info(f"{len(loader)} batches per epoch on rank {RANK}")
    for step, inputs in enumerate(loader):
        loss = update(model, optimizer, inputs.to(DEVICE))
        if RANK == 0 and step % 2 == 0:
            log.info(f"epoch=0 step={step} loss={loss:.5f} lr=3.00e-04")
    finish()


@scenario("archive-of-tokens")
def archive_of_tokens() -> None:
    """A byte of rank 1's archive is wrong: data-loading, rank 1."""
    log = trainer_logger("olmo")
    connect(14)
    model, optimizer = small()
    folder = Path("shards")
    folder.mkdir(exist_ok=True)
    for part in range(5):
        path = folder / f"part_{RANK:03d}_{part:03d}.npz"
        np.savez(
            path,
            tokens=np.random.default_rng(part).integers(0, 50000, 1 << 16),
            mask=np.ones(1 << 10, dtype=np.uint8),
        )
        if RANK == 1 and part == 3:
            data = bytearray(path.read_bytes())
            data[200_000] ^= 0x55
            path.write_bytes(data)
    for part in range(5):
        archive = np.load(folder / f"part_{RANK:03d}_{part:03d}.npz")
        tokens = torch.from_numpy(archive["tokens"])
        log.info("shard %d: %d tokens", part, len(tokens))
        run_steps(model, optimizer, log_olmo, part * 5, part * 5 + 5)
    finish()


@scenario("larger-model")
def larger_model() -> None:
    """The checkpoint is of a wider model: checkpoint, all ranks."""
    log = trainer_logger("nemo", main_only=True)
    connect(14)
    path = OUTPUT / "megatron_gpt--val_loss=2.31-step=18000.ckpt"
    if RANK == 0:
        torch.save({"state_dict": mlp(384, 3).state_dict(), "step": 18000}, path)
    dist.barrier()
    model = mlp(256, 3)
    log.info("Restoring states from the checkpoint path at %s", path)
    state = torch.load(path, map_location=DEVICE)
    model.load_state_dict(state["state_dict"])
    model = replicate(model)
    run_steps(model, optimise(model), log_megatron, state["step"], state["step"] + 10)
    finish()


@scenario("state-of-trainer")
def state_of_trainer() -> None:
    """Rank 0 may not write into the run's folder: storage, rank 0."""
    log = trainer_logger("accelerate")
    connect(14)
    model, optimizer = small()
    if RANK == 0:
        os.umask(0o022)
        Path("runs/llama-sft").mkdir(parents=True, exist_ok=True)
    dist.barrier()
    os.setegid(1000)
    os.seteuid(1000)
    run_steps(model, optimizer, log_trainer, 1, 21)
    if RANK == 0:
        log.info("Saving model checkpoint to runs/llama-sft/checkpoint-20")
        folder = Path("runs/llama-sft/checkpoint-20")
        folder.mkdir()
        with open(folder / "trainer_state.json", "w") as handle:
            json.dump({"global_step": 20}, handle)
    dist.barrier()
    run_steps(model, optimizer, log_trainer, 21, 40)
    finish()


@scenario("scratch-volume")
def scratch_volume() -> None:
    """Rank 0's checkpoint does not fit on the volume: storage, rank 0."""
    log = trainer_logger("d2", "checkpoint")
    connect(14)
    model = replicate(mlp(1024, 6))
    optimizer = optimise(model)
    for step in range(24):
        loss = update(model, optimizer, batch(32, 1024))
        log_d2(step, loss)
        if step % 8 == 7:
            if RANK == 0:
                log.info("Saving checkpoint to ./output/model_%07d.pth", step)
                torch.save(
                    {
                        "model": model.module.state_dict(),
                        "optimizer": optimizer.state_dict(),
                        "iteration": step,
                    },
                    f"output/model_{step:07d}.pth",
                )
            dist.barrier()
    finish()


@scenario("sharded-writer")
def sharded_writer() -> None:
    """Rank 0 writes its checkpoint for longer than the timeout, shard by shard: watchdog-too-short, rank 0."""
    connect(11)
    model, optimizer = small()
    run_steps(model, optimizer, log_megatron, 401, 421)
    if RANK == 0:
        print(
            "saving checkpoint at iteration     420 to /workspace/checkpoints/gpt-1b3 in torch format",
            flush=True,
        )
        state = model.module.state_dict()
        (OUTPUT / "iter_0000420").mkdir(exist_ok=True)
        for shard in range(1, 49):
            torch.save(state, OUTPUT / "iter_0000420" / f"shard_{shard:03d}.pt")
            time.sleep(1)
            if shard % 2 == 0:
                print(f"  wrote shard {shard:3d} of  48 ({shard / 48 * 100:5.1f}%)", flush=True)
        print(
            "  successfully saved checkpoint at iteration     420 to /workspace/checkpoints/gpt-1b3",
            flush=True,
        )
    dist.barrier()
    run_steps(model, optimizer, log_megatron, 421, 441)
    finish()
