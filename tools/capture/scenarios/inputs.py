"""Exceptions of the host program: data, losses, checkpoints, configurations."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.utils.data import DataLoader, Dataset

from scenarios import scenario
from scenarios.common import (
    CUDA,
    DEVICE,
    RANK,
    SCRATCH,
    batch,
    finish,
    init,
    network,
    optimise,
    optimised,
    replicate,
    train_step,
    trainee,
)
from scenarios.fsdp import sharded

Sample = dict[str, torch.Tensor]


class Documents(Dataset[Sample]):
    """Samples of which one may be unlike the others."""

    def __init__(self, odd: str = "") -> None:
        self.odd = odd

    def __len__(self) -> int:
        return 96

    def __getitem__(self, index: int) -> Sample:
        sample = {"input": torch.full((512,), float(index)), "labels": torch.zeros(1)}
        if index == 41 and self.odd == "key":
            del sample["labels"]
        if index == 41 and self.odd == "fatal":
            os.kill(os.getpid(), signal.SIGSEGV)
        return sample


def collate(samples: list[Sample]) -> torch.Tensor:
    """Stack inputs and add their labels."""
    return torch.stack([s["input"] + s["labels"] for s in samples])


def _train(odd: str) -> None:
    init(16)
    model, optimizer = trainee()
    loader = DataLoader(Documents(odd), batch_size=8, num_workers=2, collate_fn=collate)
    for step, inputs in enumerate(loader):
        train_step(model, optimizer, step, inputs.to(DEVICE))
    finish()


@scenario("collate-key-error")
def collate_key_error() -> None:
    """A sample on rank 1 has no labels, collate raises a KeyError in a loader worker: data-loading or user
    code, rank 1."""
    _train("key" if RANK == 1 else "")


@scenario("loader-worker-dies")
def loader_worker_dies() -> None:
    """A loader worker of rank 2 dies of SIGSEGV: data-loading or crash, rank 2."""
    _train("fatal" if RANK == 2 else "")


@scenario("loss-asserted")
def loss_asserted() -> None:
    """The program asserts that the loss is finite, on rank 3 it is NaN: numerics or user code, rank 3."""
    init(16)
    model, optimizer = trainee()
    for step in range(10):
        inputs = batch()
        if RANK == 3 and step == 5:
            inputs = inputs / 0.0 * 0.0
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        assert torch.isfinite(loss), f"loss is {loss.item()} at step {step}"
        loss.backward()
        optimizer.step()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    finish()


@scenario("optimizer-shard-damaged")
def optimizer_shard_damaged() -> None:
    """The central directory of rank 2's optimizer shard is overwritten: checkpoint, rank 2."""
    init(16)
    model = replicate(network())
    path = Path(SCRATCH, f"optim_rank{RANK:02d}.pt")
    torch.save({"moment": torch.zeros(1 << 16), "step": 400}, path)
    if RANK == 2:
        size = path.stat().st_size
        with open(path, "r+b") as handle:
            handle.seek(size - 400)
            handle.write(b"\0" * 400)
    print(f"loading optimizer state from {path}", flush=True)
    state = torch.load(path, map_location=DEVICE)
    optimizer = optimise(model)
    for step in range(state["step"], state["step"] + 4):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("setting-missing")
def setting_missing() -> None:
    """The configuration file lacks a key that every rank reads: config or user code, all ranks."""
    path = Path(SCRATCH, "config.json")
    path.write_text(json.dumps({"num_layers": 3, "d_model": 512}))
    init(16)
    settings = json.loads(path.read_text())
    network(settings["hidden_size"], settings["num_layers"])
    finish()


@scenario("tensor-on-the-host")
def tensor_on_the_host() -> None:
    """Rank 1 reduces a tensor that it forgot to move to its GPU: user code, rank 1."""
    init(16)
    counts = torch.ones(4, device=DEVICE)
    dist.all_reduce(counts)
    total = torch.tensor([float(RANK)]) if RANK == 1 else torch.tensor([float(RANK)], device=DEVICE)
    dist.all_reduce(total)
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: total {total.item():.0f}", flush=True)
    finish()


@scenario("fsdp-disk-full")
def fsdp_disk_full() -> None:
    """A sharded checkpoint does not fit on the small file system: storage, several ranks."""
    init(30)
    model, optimizer = optimised(sharded(width=1024))
    for step in range(4):
        train_step(model, optimizer, step, batch(width=1024))
    print(f"rank {RANK}: saving step_4", flush=True)
    dcp.save({"model": model.state_dict()}, checkpoint_id=f"{os.environ['CAPTURE_SMALL_DISK']}/step_4")
    finish()


@scenario("line-not-json")
def line_not_json() -> None:
    """A line of rank 2's shard is cut, json refuses it: data-loading or user code, rank 2."""
    init(16)
    model, optimizer = trainee()
    shard = Path(SCRATCH, f"shard_{RANK:03d}.jsonl")
    lines = [json.dumps({"id": index, "text": "x" * 40}) for index in range(12)]
    if RANK == 2:
        lines[7] = lines[7][:31]
    shard.write_text("\n".join(lines))
    for step, line in enumerate(shard.read_text().splitlines()):
        document = json.loads(line)
        train_step(model, optimizer, step, batch() + 0.0 * document["id"])
    finish()


@scenario("loss-diverges")
def loss_diverges() -> None:
    """The loss grows to infinity on all ranks and the program gives up: numerics or user code, all ranks."""
    init(16)
    model = replicate(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e4)
    for step in range(40):
        loss = train_step(model, optimizer, step, batch(width=512) * 10)
        if loss != loss or loss == float("inf"):
            raise ValueError(f"loss diverged at step {step}: {loss}")
    finish()
