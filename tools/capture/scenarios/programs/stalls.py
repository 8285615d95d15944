"""Ranks that stand still, for one reason or another."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import os
import random
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from scenarios import scenario
from scenarios.common import DEVICE, RANK, WORLD, finish, optimise, optimised, replicate
from scenarios.programs.house import (
    OUTPUT,
    batch,
    connect,
    epochs,
    everyone,
    hugging,
    logger_of,
    mlp,
    patience,
    run_steps,
    small,
    update,
)
from scenarios.programs.trainers import log_titan, trainer_logger


@scenario("read-from-pipe")
def read_from_pipe() -> None:
    """Rank 1's shard is a named pipe that nobody writes: data-loading, rank 1."""
    log = logger_of("plain")
    connect(14)
    model, optimizer = small()
    folder = Path("data")
    folder.mkdir(exist_ok=True)
    for part in range(4):
        path = folder / f"tokens_{RANK:02d}_{part:02d}.bin"
        if RANK == 1 and part == 2:
            os.mkfifo(path)
        else:
            path.write_bytes(os.urandom(1 << 16))
        log.info("rank %d: loading %s", RANK, path)
        tokens = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)
        log.info("rank %d: loaded %s, %d tokens", RANK, path, len(tokens))
        run_steps(model, optimizer, everyone, part * 5, part * 5 + 5)
    finish()


@scenario("stopped-in-shard-group")
def stopped_in_shard_group() -> None:
    """Rank 2 is stopped by a signal in HSDP: straggler-or-hang, rank 2."""
    connect(14)
    logger_of("titan")
    mesh = init_device_mesh(DEVICE.type, (2, 2), mesh_dim_names=("replicate", "shard"))
    patience(mesh, 14)
    model = mlp(512, 3)
    for layer in model:
        fully_shard(layer, mesh=mesh)
    model, optimizer = optimised(fully_shard(model, mesh=mesh))
    for step in range(1, 60):
        value = update(model, optimizer, batch(32, 512), 0.15)
        print(f"[rank{RANK}] step {step} loss {value:.4f}", flush=True)
    finish()


@scenario("waits-for-program")
def waits_for_program() -> None:
    """Rank 0 waits for a program that does not end, its stack is printed: straggler-or-hang, rank 0."""
    logger_of("hf")
    connect(15)
    model, optimizer = small()
    run_steps(model, optimizer, hugging, 1, 10)
    if RANK == 0:
        faulthandler.dump_traceback_later(12, exit=False)
        torch.save(model.module.state_dict(), OUTPUT / "checkpoint-10.pt")
        logging.getLogger("train").info("running eval harness on outputs/checkpoint-10.pt")
        subprocess.run(["sh", "-c", "sleep 300"], check=False)
    run_steps(model, optimizer, hugging, 10, 20)
    finish()


@scenario("pattern-never-ends")
def pattern_never_ends() -> None:
    """TP 2 x DP 2: rank 1 backtracks in a regular expression and keeps the interpreter: straggler-or-hang, rank 1."""
    log = logger_of("glog")
    connect(14)
    mesh = init_device_mesh(DEVICE.type, (2, 2), mesh_dim_names=("dp", "tp"))
    patience(mesh, 14)
    model, optimizer = optimised(mlp())
    mail = re.compile(r"^([a-z0-9]+[._-]?)+@example\.com$")
    for step in range(20):
        document = "a" * (48 if RANK == 1 and step == 8 else 6) + "!"
        if step % 4 == 0:
            log.info("filtering documents %d..%d", step * 100, step * 100 + 399)
            mail.match(document)
            log.info("kept %d of 400", random.randint(350, 399))
        loss = model(batch()).square().mean()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, group=mesh["tp"].get_group())
            dist.all_reduce(parameter.grad, group=mesh["dp"].get_group())
        optimizer.step()
        optimizer.zero_grad()
        everyone(step, loss.item())
    finish()


@scenario("index-outlasts-timeout")
def index_outlasts_timeout() -> None:
    """Rank 0 builds the index for longer than the timeout and finishes: watchdog-too-short, rank 0."""
    log = logger_of("plain")
    connect(10)
    from tqdm import tqdm

    log.info(
        "rank %d: dataset cache not found" if RANK == 0 else "rank %d: waiting for the dataset cache", RANK
    )
    if RANK == 0:
        for _ in tqdm(range(240), desc="Building sample index", unit="file", mininterval=2):
            time.sleep(0.1)
        log.info("rank 0: sample index written, 1843200 documents, 24.1 s")
    dist.barrier()
    model = replicate(mlp())
    run_steps(model, optimise(model), everyone, 0, 10)
    finish()


@scenario("monitored-barrier-missed")
def monitored_barrier_missed() -> None:
    """Rank 2 does not come to a monitored barrier: straggler-or-hang, rank 2."""
    log = logger_of("mm")
    connect(60)
    control = dist.new_group(backend="gloo")
    model, optimizer = small()
    run_steps(model, optimizer, epochs, 1, 10)
    for epoch in range(1, 4):
        while RANK == 2 and epoch == 2 and not (OUTPUT / "lease").exists():
            time.sleep(0.5)
        log.info("rank %d: end of epoch %d", RANK, epoch)
        dist.monitored_barrier(control, timeout=timedelta(seconds=12), wait_all_ranks=True)
        run_steps(model, optimizer, epochs, epoch * 10, epoch * 10 + 8)
    finish()


@scenario("wall-time-differs")
def wall_time_differs() -> None:
    """Rank 2 of a gloo job reaches its wall-time limit first and leaves with zero: collective-desync, rank 2."""
    log = logger_of("rank")
    connect(14, backend="gloo")
    model = DistributedDataParallel(nn.Linear(64, 64))
    optimizer = optimise(model)
    budget = 1.0 if RANK == 2 else 30.0
    begin = time.time()
    for step in range(60):
        everyone(step, update(model, optimizer, torch.randn(16, 64), 0.15))
        if time.time() - begin > budget:
            log.info("time budget of this allocation used up after %d steps, state saved, leaving", step)
            sys.stdout.flush()
            os._exit(0)
    finish()


@scenario("key-never-set")
def key_never_set() -> None:
    """Rank 0 cannot write the export to a read-only file system, the others wait for its key: storage, rank 0."""
    log = logger_of("bracket")
    connect(30)
    model, optimizer = small()
    run_steps(model, optimizer, everyone, 0, 10)
    store = dist.distributed_c10d._get_default_store()
    if RANK == 0:
        log.info("exporting weights to export/weights.bin")
        try:
            with open("export/weights.bin", "wb") as handle:
                for parameter in model.parameters():
                    handle.write(parameter.detach().cpu().numpy().tobytes())
            store.set("export/10", "done")
        except OSError:
            log.exception("export failed")
    else:
        store.wait(["export/10"], timedelta(seconds=10))
    run_steps(model, optimizer, everyone, 10, 20)
    finish()


@scenario("two-locks")
def two_locks() -> None:
    """Two threads of rank 1 wait for each other's lock, gloo: straggler-or-hang, rank 1."""
    log = trainer_logger("axolotl")
    connect(12, backend="gloo")
    model = DistributedDataParallel(nn.Linear(128, 128))
    optimizer = optimise(model)
    stats, queue = threading.Lock(), threading.Lock()

    def flush() -> None:
        with queue:
            time.sleep(0.3)
            with stats:
                pass

    for step in range(40):
        loss = update(model, optimizer, torch.randn(16, 128))
        if RANK == 1 and step == 15:
            threading.Thread(target=flush, daemon=True).start()
            time.sleep(0.1)
        with stats, queue:
            log.info("step %d loss %.4f", step, loss)
    log.info("finished")
    finish()


@scenario("notification")
def notification() -> None:
    """Rank 0's notifier waits for minutes before it tries again: straggler-or-hang, rank 0."""
    from tqdm import tqdm

    log = trainer_logger("loguru")
    connect(13)
    model, optimizer = small()

    def notify(text: str) -> None:
        for delay in (1, 600, 1800):
            try:
                urllib.request.urlopen("http://127.0.0.1:8065/hooks/train", text.encode(), timeout=5)
                return
            except urllib.error.URLError as error:
                log.warning(f"chat notification not delivered: {error.reason}, next attempt in {delay} s")
                time.sleep(delay)

    for epoch in range(3):
        bar = tqdm(range(20), desc=f"Epoch {epoch}", disable=RANK != 0, mininterval=0.4)
        for _ in bar:
            bar.set_postfix(loss=f"{update(model, optimizer, batch()):.4f}")
        if RANK == 0:
            log.info(f"epoch {epoch} done")
            if epoch == 1:
                notify("epoch 1 done")
    finish()


@scenario("packing")
def packing() -> None:
    """Rank 2 packs an empty document for ever: straggler-or-hang, rank 2."""
    trainer_logger("titan")
    connect(13)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    model = fully_shard(mlp(512, 3), mesh=mesh)
    optimizer = optimise(model)

    def pack(lengths: list[int], capacity: int) -> int:
        rows, room, index = 1, capacity, 0
        while index < len(lengths):
            taken = min(room, lengths[index])
            room -= taken
            lengths[index] -= taken
            if taken and not lengths[index]:
                index += 1
            if not room:
                rows, room = rows + 1, capacity
        return rows

    for step in range(1, 40):
        lengths = [random.randint(100, 3000) for _ in range(32)]
        if RANK == 2 and step == 12:
            lengths[9] = 0
        pack(lengths, 8192)
        loss = update(model, optimizer, batch(32, 512))
        log_titan(step, loss)
    finish()


@scenario("page-of-index")
def page_of_index() -> None:
    """Rank 1's native call waits and keeps the interpreter's lock: straggler-or-hang, rank 1."""
    log = trainer_logger("axolotl")
    connect(12)
    model, optimizer = small()
    index = ctypes.PyDLL("./liblookup.so")
    for step in range(40):
        index.load_page(120 if RANK == 1 and step == 14 else 0)
        log.info("step %d loss %.4f", step, update(model, optimizer, batch()))
    finish()
