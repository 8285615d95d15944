"""Jobs that end well, with noise."""

from __future__ import annotations

import json
import logging
import signal
import time
import traceback
import warnings
from datetime import datetime, timedelta

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.algorithms.join import Join
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from scenarios import scenario
from scenarios.common import ATTEMPT, DEVICE, RANK, WORLD, finish, optimise, optimised, replicate
from scenarios.programs.house import (
    OUTPUT,
    batch,
    connect,
    epochs,
    everyone,
    logger_of,
    mlp,
    run_steps,
    say,
    small,
    titan,
    update,
)
from scenarios.programs.trainers import (
    log_deepspeed,
    log_megatron,
    log_olmo,
    log_plain,
    log_titan,
    log_trainer,
    trainer_logger,
)


@scenario("fine-join")
def fine_join() -> None:
    """Uneven data with the join context: healthy."""
    log = logger_of("bracket")
    connect(40)
    model, optimizer = small()
    count = 12 + 3 * RANK
    log.info("%d batches on this rank", count)
    with Join([model]):
        for step in range(count):
            everyone(step, update(model, optimizer, batch()))
    log.info("out of data after %d batches", count)
    finish()
    log.info("done")


@scenario("fine-smaller-batch")
def fine_smaller_batch() -> None:
    """Rank 1 runs out of memory, everyone goes on with half the batch: healthy."""
    log = logger_of("rank")
    connect(60)
    model, optimizer = optimised(fully_shard(mlp(512, 3), mesh=init_device_mesh(DEVICE.type, (WORLD,))))
    size = 64
    for step in range(20):
        failed = torch.zeros(1, device=DEVICE)
        try:
            if size == 64 and step == 6 and RANK == 1:
                torch.empty(1 << 41, dtype=torch.uint8, device=DEVICE)
        except RuntimeError:
            traceback.print_exc()
            log.error("out of memory with batch size %d", size)
            failed += 1
        dist.all_reduce(failed)
        if failed.item():
            torch.cuda.empty_cache()
            size //= 2
            log.warning("retrying step %d with batch size %d", step, size)
        everyone(step, update(model, optimizer, batch(size, 512)))
    log.info("finished 20 steps")
    finish()


@scenario("fine-signal-saves")
def fine_signal_saves() -> None:
    """A signal asks for a checkpoint in between: healthy."""
    logger_of("titan")
    log = logging.getLogger("train")
    connect(40)
    asked = []
    signal.signal(signal.SIGUSR1, lambda number, frame: asked.append(number))
    control = dist.new_group(backend="gloo")
    model, optimizer = optimised(fully_shard(mlp(512, 3), mesh=init_device_mesh(DEVICE.type, (WORLD,))))
    pending = None
    for step in range(1, 50):
        titan(step, update(model, optimizer, batch(32, 512), 0.15))
        flag = torch.tensor([len(asked)], device=DEVICE)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item() > 0 and pending is None:
            log.warning(
                "caught signal 10 (SIGUSR1) on rank %d: writing an emergency checkpoint at step %d",
                RANK,
                step,
            )
            pending = dcp.async_save(
                {"model": model.state_dict()},
                checkpoint_id=str(OUTPUT / f"step-{step}"),
                process_group=control,
            )
    if pending is not None:
        pending.result()
        log.info("emergency checkpoint finished")
    log.info("Training completed")
    finish()


@scenario("fine-second-attempt")
def fine_second_attempt() -> None:
    """The first attempt is killed from outside, the second ends well: healthy."""
    log = logger_of("plain")
    connect(14)
    model, optimizer = small()
    path = OUTPUT / "state.pt"
    first = 0
    if ATTEMPT and path.exists():
        first = torch.load(path)["step"]
        log.info("rank %d: attempt %d, resuming at step %d", RANK, ATTEMPT, first)
    for step in range(first, 36):
        everyone(step, update(model, optimizer, batch(), 0.15))
        if RANK == 0 and step % 5 == 4:
            torch.save({"step": step + 1}, path)
    if RANK == 0:
        log.info("training finished after %d restart(s)", ATTEMPT)
    finish()


@scenario("fine-recompiles")
def fine_recompiles() -> None:
    """Recompilations, graph breaks and a fallback to eager: healthy."""
    log = logger_of("loguru")
    connect(60)
    model, optimizer = optimised(replicate(mlp(64, 1)))

    @torch.compile(backend="aot_eager")
    def forward(inputs: torch.Tensor, factor: int) -> torch.Tensor:
        out = model(inputs)
        print("", end="")
        return out.square().mean() * factor

    for step in range(14):
        loss = forward(torch.randn(32 + step * (RANK + 1), 64, device=DEVICE), step + 1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log.info(f"step {step} loss {loss.item():.5f}")
        if step == 8:
            warnings.warn("compile cache is getting large, expect slow steps", stacklevel=1)
    log.info("done, 14 steps")
    finish()


@scenario("fine-barrier-retried")
def fine_barrier_retried() -> None:
    """A monitored barrier and a store wait time out, both are caught and tried again: healthy."""
    log = logger_of("mm")
    connect(60)
    control = dist.new_group(backend="gloo")
    model, optimizer = small()
    run_steps(model, optimizer, epochs, 1, 8)
    store = dist.distributed_c10d._get_default_store()
    for attempt in range(5):
        try:
            store.wait([f"cache/{RANK}"], timedelta(seconds=2))
            break
        except dist.DistStoreError as error:
            log.warning("rank %d: cache entry is not there yet (attempt %d): %s", RANK, attempt + 1, error)
            store.set(f"cache/{RANK}", "1")
    try:
        if RANK == 3:
            time.sleep(7)
        dist.monitored_barrier(control, timeout=timedelta(seconds=4))
    except RuntimeError as error:
        log.warning("rank %d: barrier was late, going on: %s", RANK, error)
    dist.barrier()
    run_steps(model, optimizer, epochs, 8, 20)
    log.info("rank %d: finished", RANK)
    finish()


@scenario("fine-overflow")
def fine_overflow() -> None:
    """Half precision overflows and steps are skipped: healthy."""
    connect(40)
    model = replicate(mlp())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler(DEVICE.type, init_scale=2.0**40)
    skipped = 0
    for step in range(36):
        with torch.autocast(DEVICE.type, dtype=torch.float16):
            loss = model(batch()).float().square().mean()
        before = scaler.get_scale()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if scaler.get_scale() < before:
            skipped += 1
            print(
                f"[{datetime.now():%H:%M:%S}] Gradient overflow.  Skipping step, rank {RANK} loss scaler 0 reducing "
                f"loss scale to {scaler.get_scale()}",
                flush=True,
            )
        elif RANK == 0:
            print(
                f"step {step}: loss nan (overflow window)"
                if step == 3
                else f"step {step}: loss {loss.item():.5f} scale {scaler.get_scale():.0f}",
                flush=True,
            )
        time.sleep(0.05)
    say(f"Training finished. {skipped} skipped iterations")
    finish()


@scenario("fine-bad-pictures")
def fine_bad_pictures() -> None:
    """Unreadable samples are replaced, with tracebacks: healthy."""
    log = logger_of("glog")
    connect(40)
    model, optimizer = small()
    for step in range(30):
        try:
            if (step + RANK * 5) % 11 == 7:
                raise OSError(
                    f"image file is truncated (17 bytes not processed): n0{1440764 + step}_{RANK}.JPEG"
                )
        except OSError:
            log.exception("sample skipped, taking the next one")
        if step == 12 and RANK == 0:
            log.error(
                "Failed to push metrics to http://pushgateway:9091: <urlopen error [Errno 111] Connection refused>; will retry in 30s"
            )
        everyone(step, update(model, optimizer, batch()))
    log.info("Training done. total_skipped=%d", 3)
    finish()


@scenario("fine-captured")
def fine_captured() -> None:
    """A captured step with warnings, a slow rank, NCCL reporting: healthy."""
    log = logger_of("plain")
    connect(60)
    model, static = mlp(), batch()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            model(static).square().mean().backward()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = model(static).square().mean()
        loss.backward()
    for step in range(24):
        static.copy_(batch())
        graph.replay()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        if step == 9 and RANK == 2:
            log.warning("rank 2: host is swapping, step took 8.0 s (median 0.05 s)")
            time.sleep(8)
        everyone(step, loss.item())
        time.sleep(0.05)
    log.info("rank %d: best loss kept, exiting", RANK)
    finish()


@scenario("fine-left-open")
def fine_left_open() -> None:
    """Ends without destroying the group, with warnings: healthy."""
    log = trainer_logger("accelerate", main_only=True)
    connect(30, eager=False)
    model = replicate(mlp(), find_unused_parameters=True)
    optimizer = optimise(model)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1.0)
    scheduler.step()
    dist.barrier()
    run_steps(model, optimizer, log_trainer, 1, 25, 2)
    if RANK == 0:
        torch.save(model.module.state_dict(), OUTPUT / "pytorch_model.bin")
        print(
            {
                "train_runtime": 4.8133,
                "train_samples_per_second": 319.1,
                "train_steps_per_second": 4.986,
                "train_loss": 0.0213,
                "epoch": 1.0,
            },
            flush=True,
        )
    log.info("Training completed. Do not forget to share your model on huggingface.co/models =)")


@scenario("fine-nan-metric")
def fine_nan_metric() -> None:
    """A metric is nan, a save fails once and is repeated: healthy."""
    log = trainer_logger("nemo")
    connect(30)
    model, optimizer = small()
    for epoch in range(3):
        run_steps(model, optimizer, log_megatron, epoch * 8 + 1, epoch * 8 + 9, 2)
        if RANK == 0:
            log.info(
                "Epoch %d, global step %d: 'val_bleu' is nan; 'val_loss' reached %.5f (best %.5f), saving model as top 3",
                epoch,
                epoch * 8 + 8,
                2.1 - epoch * 0.1,
                2.1 - epoch * 0.1,
            )
            for attempt in range(3):
                try:
                    with open(OUTPUT / f"epoch={epoch}" / "model.bin", "wb") as handle:
                        handle.write(b"\0" * 4096)
                    log.info("checkpoint of epoch %d saved", epoch)
                    break
                except OSError:
                    log.exception("could not save the checkpoint (attempt %d of 3)", attempt + 1)
                    (OUTPUT / f"epoch={epoch}").mkdir()
                    time.sleep(0.5)
        dist.barrier()
    if RANK == 0:
        log.info("`Trainer.fit` stopped: `max_epochs=3` reached.")
    finish()


@scenario("fine-slow-rank")
def fine_slow_rank() -> None:
    """One rank is slow for six seconds, the straggler report says so: healthy."""
    log = trainer_logger("titan")
    connect(40)
    model = fully_shard(mlp(512, 3), mesh=init_device_mesh(DEVICE.type, (WORLD,)))
    optimizer = optimise(model)
    slowest = 0.0
    for step in range(1, 31):
        began = time.time()
        if RANK == 3 and step in (11, 12):
            time.sleep(3)
        loss = update(model, optimizer, batch(32, 512))
        log_titan(step, loss)
        slowest = max(slowest, time.time() - began)
        if time.time() - began > 2 and step > 1:
            log.warning(
                "straggler report: step %d took %.2f s on rank %d (threshold 2.00 s), possible hang, watchdog has 37 s left",
                step,
                time.time() - began,
                RANK,
            )
    log.info("Sleeping 2 seconds for other ranks to complete")
    time.sleep(2)
    log.info("Training completed, slowest step %.2f s", slowest)
    finish()
    log.info("Process group destroyed")


@scenario("fine-preempted")
def fine_preempted() -> None:
    """A signal from the scheduler; every rank saves and ends with zero: healthy."""
    log = trainer_logger("olmo")
    connect(30)
    model, optimizer = small()
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    for step in range(300):
        loss = update(model, optimizer, batch())
        log_olmo(step, loss)
        flag = torch.tensor([len(asked)], device=DEVICE)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            log.warning("received SIGTERM from the scheduler, stopping after step %d", step)
            break
    if RANK == 0:
        torch.save({"model": model.module.state_dict(), "step": step}, OUTPUT / "latest.pt")
        log.info("checkpoint for requeue written to outputs/latest.pt")
    dist.barrier()
    finish()
    log.info("exiting with 0, job may be requeued")


@scenario("fine-many-words")
def fine_many_words() -> None:
    """Settings, counters and tests named after failures: healthy."""
    log = trainer_logger("deepspeed")
    connect(40)
    log.info(
        "config: nccl_timeout=1800 kill_on_hang=True oom_retries=3 dump_on_error=False sigkill_grace=30 abort_on_nan=True"
    )
    model, optimizer = small()
    control = dist.new_group(backend="gloo")
    for step in range(30):
        loss = update(model, optimizer, batch())
        log_deepspeed(step, loss)
        if step % 10 == 9:
            log.info(
                "health: ecc_errors=0 xid=0 nccl_errors=0 timeouts=0 cuda_oom=0 dead_workers=0 segfaults=0"
            )
            dist.monitored_barrier(control, timeout=timedelta(seconds=20))
        if step == 14 and RANK == 1:
            log.warning("data server closed the connection (Connection reset by peer), reconnecting")
            log.info("data server: connected again after 1 failed attempt")
        if step == 20 and RANK == 2:
            log.error("eval sample 'Traceback (most recent call last): RuntimeError: CUDA error' scored 0.31")
    log.info("max allocated %.2f GiB, 0 out of memory events, 0 retries", 0.03)
    finish()
    log.info("training finished, exit code 0")


@scenario("fine-loader-repairs")
def fine_loader_repairs() -> None:
    """Broken samples, deprecated calls, an asynchronous checkpoint: healthy."""
    log = trainer_logger("loguru")
    connect(40)
    control = dist.new_group(backend="gloo")
    model, optimizer = small()
    pending = None
    for step in range(30):
        try:
            json.loads('{"text": "' if (step * 7 + RANK) % 13 == 5 else "{}")
        except json.JSONDecodeError as error:
            log.error(f"skipping record {step * 7 + RANK}: {type(error).__name__}: {error}")
        loss = update(model, optimizer, batch())
        log_plain(step, loss)
        if step % 10 == 9:
            if pending is not None:
                pending.result()
            pending = dcp.async_save(
                {"model": model.module.state_dict()},
                checkpoint_id=f"outputs/step-{step}",
                process_group=control,
            )
        if step == 12:
            warnings.warn(
                "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
                FutureWarning,
                stacklevel=1,
            )
    pending.result()
    log.info("run finished: 30 steps")
    finish()
