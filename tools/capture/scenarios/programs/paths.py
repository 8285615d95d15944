"""Ranks that take different paths."""

from __future__ import annotations

import json
import logging
import os
import random
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from scenarios import scenario
from scenarios.common import DEVICE, RANK, WORLD, finish, optimise, optimised, replicate
from scenarios.programs.house import (
    batch,
    connect,
    epochs,
    everyone,
    logger_of,
    megatron,
    mlp,
    nano,
    patience,
    run_steps,
    say,
    small,
    titan,
    update,
)
from scenarios.programs.trainers import log_deepspeed, log_plain, log_titan, log_trainer, trainer_logger


def shard(model: nn.Sequential, mesh: object) -> nn.Module:
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


@scenario("hsdp-spike-reduce")
def hsdp_spike_reduce() -> None:
    """HSDP 2x2: rank 3 alone checks a loss spike with a reduction over its shard group: collective-desync, rank 3."""
    log = logger_of("titan")
    connect(14)
    mesh = init_device_mesh(DEVICE.type, (2, 2), mesh_dim_names=("dp_replicate", "dp_shard"))
    patience(mesh, 14)
    model, optimizer = optimised(shard(mlp(512, 4), mesh))
    average = 0.0
    for step in range(1, 40):
        inputs = batch(64, 512) * (12 if RANK == 3 and step == 9 else 1)
        loss = model(inputs).square().mean()
        value = loss.item()
        average = 0.9 * average + 0.1 * value if average else value
        if value > 4 * average:
            log.warning(
                "step %d: local loss %.4f is above 4x its running mean %.4f, averaging over the shard group",
                step,
                value,
                average,
            )
            dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG, group=mesh["dp_shard"].get_group())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        titan(step, value)
        time.sleep(0.1)
    finish()


@scenario("moe-empty-expert")
def moe_empty_expert() -> None:
    """Expert groups of two; rank 1 gets no token and leaves the exchange out: collective-desync, rank 1."""
    log = logger_of("rank")
    connect(14, eager=False)
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    mine = groups[RANK // 2]
    router, expert = replicate(nn.Linear(256, 2).to(DEVICE)), mlp(256, 1)
    optimizer = torch.optim.SGD([*router.parameters(), *expert.parameters()], lr=1e-3)
    for step in range(30):
        tokens = batch(64)
        weights = router(tokens).softmax(-1)
        wanted = 0 if RANK == 1 and step == 11 else 32
        if wanted:
            sent = tokens.contiguous()
            received = torch.empty_like(sent)
            dist.all_to_all_single(received, sent, group=mine)
            out = expert(received) * weights[:, :1]
        else:
            log.info("layer 0: no tokens routed, dispatch skipped (capacity 0/64)")
            out = tokens * weights[:, :1]
        out.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        everyone(step, out.square().mean().item())
        time.sleep(0.1)
    finish()


@scenario("fsdp-last-accumulation")
def fsdp_last_accumulation() -> None:
    """FSDP2 accumulates four micro-batches, rank 2 has three in its last group: collective-desync, rank 2."""
    logger_of("plain")
    connect(14)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    model, optimizer = optimised(shard(mlp(512, 3), mesh))
    shards = 4 * 8 - (1 if RANK == 2 else 0)
    logging.getLogger("train").info("rank %d: %d micro-batches in this epoch", RANK, shards)
    micro = [batch(16, 512) for _ in range(shards)]
    for step in range(8):
        group = micro[step * 4 : step * 4 + 4]
        for index, inputs in enumerate(group):
            model.set_requires_gradient_sync(index == len(group) - 1)
            loss = model(inputs).square().mean() / len(group)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        megatron(step, loss.item(), 8)
    total = torch.ones(1, device=DEVICE)
    dist.all_reduce(total)
    say(f"epoch done, {total.item():.0f} ranks")
    finish()


@scenario("barrier-in-handler")
def barrier_in_handler() -> None:
    """Rank 2 answers a bad sample with a barrier, DETAIL compares the calls: collective-desync, rank 2."""
    log = logger_of("bracket")
    connect(14, eager=False)
    model, optimizer = small()
    for step in range(20):
        try:
            inputs = batch()
            if RANK == 2 and step == 7:
                raise ValueError("negative token id -1 at position 211")
            loss = update(model, optimizer, inputs)
        except ValueError as error:
            log.warning("batch %d dropped: %s", step, error)
            dist.barrier()
            continue
        everyone(step, loss)
    finish()


@scenario("group-of-others")
def group_of_others() -> None:
    """Rank 3 asks for its place in a group that it is no member of: user-code, rank 3."""
    logger_of("mm")
    connect(20)
    pair = dist.new_group([0, 1, 2])
    model, optimizer = small()
    run_steps(model, optimizer, epochs, 1, 8)
    if RANK in (0, 1, 2, 3):
        place = dist.get_group_rank(pair, RANK)
        counts = torch.full((8,), place, device=DEVICE)
        dist.all_reduce(counts, group=pair)
    run_steps(model, optimizer, epochs, 8, 16)
    finish()


@scenario("group-used-after-destroy")
def group_used_after_destroy() -> None:
    """Rank 0 alone destroys the evaluation group, the others go on to train: collective-desync, rank 0."""
    connect(20)
    groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    model, optimizer = small()
    for epoch in range(3):
        run_steps(model, optimizer, nano, epoch * 6, epoch * 6 + 6)
        score = torch.rand(1, device=DEVICE)
        dist.all_reduce(score, group=groups[RANK // 2])
        say(f"epoch {epoch}: val_acc {score.item() / 2:.4f}")
        if RANK == 0 and epoch == 1:
            dist.destroy_process_group(groups[0])
    finish()


@scenario("resumed-from-older")
def resumed_from_older() -> None:
    """Rank 2 resumes from an older file on its local disk, evaluates at another step: collective-desync, rank 2."""
    log = logger_of("rank")
    connect(14)
    model, optimizer = small()
    first = 398 if RANK == 2 else 500
    log.info("resumed from /local/ckpt/step_%06d.pt", first)
    for step in range(first, first + 30):
        loss = update(model, optimizer, batch())
        if step % 2 == 0:
            everyone(step, loss)
        if step % 14 == 13:
            log.info("evaluating at step %d", step)
            scores = [torch.zeros(128, device=DEVICE) for _ in range(WORLD)]
            dist.all_gather(scores, torch.rand(128, device=DEVICE))
            log.info("eval step=%d score=%.4f", step, torch.stack(scores).mean().item())
    finish()


@scenario("epoch-ends-early")
def epoch_ends_early() -> None:
    """Rank 3's epoch ends two batches early, it gathers metrics while the others train: collective-desync, rank 3."""
    connect(14)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    model, optimizer = optimised(shard(mlp(512, 2), mesh))
    from tqdm import tqdm

    data = [torch.randn(16, 512) for _ in range(22 if RANK == 3 else 24)]
    losses = []
    for inputs in tqdm(data, desc=f"epoch 0 [{RANK}]", position=0, mininterval=0.5):
        losses.append(update(model, optimizer, inputs.to(DEVICE)))
    gathered: list[object] = [None] * WORLD
    dist.all_gather_object(gathered, {"rank": RANK, "n": len(losses), "loss": sum(losses) / len(losses)})
    say(f"epoch 0 metrics: {gathered}")
    finish()


@scenario("scatter-list-short")
def scatter_list_short() -> None:
    """Rank 0 scatters a list with an entry too few: user-code, rank 0."""
    log = logger_of("glog")
    connect(14)
    model, optimizer = small()
    for epoch in range(4):
        files = [f"part-{index:05d}.parquet" for index in range(16 if epoch < 2 else 15)]
        plan = [files[start : start + 5] for start in range(0, len(files), 5)]
        mine: list[object] = [None]
        dist.scatter_object_list(mine, plan if RANK == 0 else None, src=0)
        log.info("epoch %d: %s", epoch, mine[0])
        run_steps(model, optimizer, everyone, epoch * 5, epoch * 5 + 5)
    finish()


@scenario("empty-batch-skipped")
def empty_batch_skipped() -> None:
    """Rank 1 leaves out a reduction for an empty batch, is one ahead from then on: collective-desync, rank 1."""
    log = logger_of("plain")
    connect(12)
    weight = torch.zeros(512, 512, device=DEVICE, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for step in range(24):
        rows = torch.randn(0 if RANK == 1 and step == 10 else 32, 512, device=DEVICE)
        if len(rows) == 0:
            log.info("rank %d step %d: all samples filtered out, nothing to do", RANK, step)
            continue
        loss = (rows @ weight - 1).square().mean()
        loss.backward()
        dist.all_reduce(weight.grad)
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0:
            log.info("step %d/%d loss %.4f", step, 24, loss.item())
        time.sleep(0.1)
    finish()


@scenario("pipeline-skips-backward")
def pipeline_skips_backward() -> None:
    """PP 2 x DP 2: rank 3 skips the backward of a batch with a loss that is no number: collective-desync, rank 3."""
    log = logger_of("loguru")
    connect(14)
    mesh = init_device_mesh(DEVICE.type, (2, 2), mesh_dim_names=("pp", "dp"))
    stage, peer = RANK // 2, (RANK + 2) % 4
    data = mesh["dp"].get_group()
    model, optimizer = optimised(mlp(256, 2))
    for step in range(24):
        if stage == 0:
            out = model(batch())
            dist.send(out.detach(), peer)
            gradient = torch.empty_like(out)
            dist.recv(gradient, peer)
            out.backward(gradient)
        else:
            inputs = torch.empty(32, 256, device=DEVICE)
            dist.recv(inputs, peer)
            inputs.requires_grad_()
            loss = model(inputs).square().mean() * (float("nan") if RANK == 3 and step == 9 else 1)
            if not torch.isfinite(loss):
                log.warning(f"step {step} loss {loss.item()} is not finite, batch skipped")
                continue
            loss.backward()
            dist.send(inputs.grad, peer)
            log.info(f"step {step} stage {stage} loss {loss.item():.4f}")
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, group=data)
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(0.1)
    finish()


@scenario("validation-lengths-differ")
def validation_lengths_differ() -> None:
    """Rank 0 validates one batch more than the others, its count waits: collective-desync, rank 0."""
    log = logger_of("rank")
    connect(14)
    model, optimizer = optimised(
        replicate(nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1d(256), nn.Linear(256, 256)).to(DEVICE))
    )
    for epoch in range(2):
        for step in range(6):
            everyone(epoch * 6 + step, update(model, optimizer, batch()))
        batches = 13 if RANK == 0 else 12
        for index in range(batches):
            with torch.no_grad():
                correct = (model(batch()).argmax(-1) == 1).sum()
            dist.all_reduce(correct)
            if index % 4 == 0 or index == batches - 1:
                log.info("val [%d/%d]", index + 1, batches)
            time.sleep(0.05)
        score = torch.rand(1, device=DEVICE)
        dist.all_reduce(score)
        log.info("epoch %d val_top1 %.3f", epoch, score.item() / WORLD)
    finish()


@scenario("metric-length-differs")
def metric_length_differs() -> None:
    """Rank 1 counts eleven classes, the others ten; gloo reduces the counts: collective-desync, rank 1."""
    log = logger_of("bracket")
    connect(14, eager=False)
    cpu = dist.new_group(backend="gloo", timeout=timedelta(seconds=12))
    model, optimizer = small()
    run_steps(model, optimizer, everyone, 0, 8)
    labels = torch.arange(10).repeat(10_000)
    if RANK == 1:
        labels[-1] = 10
    counts = torch.bincount(labels)
    log.info("label histogram over %d classes, %d samples", len(counts), len(labels))
    dist.all_reduce(counts, group=cpu)
    log.info("global label histogram %s", counts.tolist())
    run_steps(model, optimizer, everyone, 8, 16)
    finish()


@scenario("last-shard-shorter")
def last_shard_shorter() -> None:
    """Rank 3 has 21 batches, the others 24, it ends and leaves: collective-desync, rank 3."""
    log = trainer_logger("fairseq")
    connect(13)
    model, optimizer = small()
    batches = list(range(21 if RANK == 3 else 24))
    log.info("begin training epoch 1")
    for step, _ in enumerate(batches):
        loss = update(model, optimizer, batch())
        if step % 3 == 0:
            log.info(
                "epoch 001: %6d loss=%.3f, ppl=%.2f, wps=%.1f, ups=7.1, lr=0.0003",
                step,
                loss,
                2**loss,
                random.uniform(20000, 21000),
            )
    log.info("end of epoch 1 (average epoch stats below)")
    log.info("epoch 001 | loss %.3f | num_updates %d | train_wall %d", loss, len(batches), 3)
    log.info("done training in %.1f seconds", len(batches) * 0.13)
    finish()


@scenario("patience-on-each-rank")
def patience_on_each_rank() -> None:
    """Rank 2 stops early by its own loss and gathers results while the others train: collective-desync, rank 2."""
    log = trainer_logger("accelerate")
    connect(13)
    model, optimizer = small()
    best, bad = float("inf"), 0
    for epoch in range(8):
        run_steps(model, optimizer, log_trainer, epoch * 6 + 1, epoch * 6 + 7, 2)
        value = (
            1.9 + 0.01 * epoch if RANK == 2 and epoch > 1 else 1.8 - 0.02 * epoch + random.random() * 0.005
        )
        log.info("eval epoch %d local rank %d: eval_loss=%.4f", epoch, RANK, value)
        best, bad = (value, 0) if value < best else (best, bad + 1)
        if bad == 3:
            log.info("EarlyStoppingCallback: eval_loss did not improve for 3 evaluations, best %.4f", best)
            break
    results: list[object] = [None] * WORLD
    dist.all_gather_object(results, {"best": best})
    if RANK == 0:
        log.info("train_results %s", results)
    finish()


@scenario("micro-batch-by-card")
def micro_batch_by_card() -> None:
    """Rank 1 accumulates twice as many micro-batches: collective-desync, rank 1."""
    log = trainer_logger("deepspeed")
    connect(13)
    model, optimizer = small()
    micro = 8 if RANK == 1 else 16
    accumulation = 64 // micro
    log.info(
        "micro_batch_size=%d gradient_accumulation_steps=%d (tuned for %d MiB free)",
        micro,
        accumulation,
        40960 if micro == 16 else 23552,
    )
    for index in range(1, 97):
        boundary = index % accumulation == 0
        if boundary:
            loss = model(batch(micro)).square().mean() / accumulation
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            log_deepspeed(index // accumulation, loss.item() * accumulation)
        else:
            with model.no_sync():
                (model(batch(micro)).square().mean() / accumulation).backward()
        time.sleep(0.04)
    correct = torch.tensor([random.randint(600, 640), 1000], device=DEVICE)
    dist.all_reduce(correct)
    if RANK == 0:
        print(f"validation accuracy {correct[0].item() / correct[1].item():.4f}", flush=True)
    finish()


@scenario("vocabulary-cached")
def vocabulary_cached() -> None:
    """Rank 3 has the vocabulary in its cache and leaves the broadcast out: collective-desync, rank 3."""
    log = trainer_logger("short", "data")
    connect(13)
    cache = Path(f"cache/{RANK}/vocab.json")
    cache.parent.mkdir(parents=True, exist_ok=True)
    words = [{f"token{i}": i for i in range(5000)}] if RANK == 0 else [None]
    if RANK == 3:
        cache.write_text(json.dumps({f"token{i}": i for i in range(5000)}))
    if cache.exists():
        vocabulary = json.loads(cache.read_text())
        log.info("[rank %d] vocabulary of %d entries read from %s", RANK, len(vocabulary), cache)
    else:
        log.info("[rank %d] waiting for the vocabulary of rank 0", RANK)
        dist.broadcast_object_list(words, src=0)
        vocabulary = words[0]
        log.info("[rank %d] vocabulary of %d entries received", RANK, len(vocabulary))
    model = replicate(nn.Sequential(nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, 256)).to(DEVICE))
    run_steps(model, optimise(model), log_plain, 0, 20)
    finish()


@scenario("units-by-size")
def units_by_size() -> None:
    """Rank 2 wraps by another threshold: collective-desync, rank 2."""
    log = trainer_logger("titan")
    connect(13)
    mesh = init_device_mesh(DEVICE.type, (WORLD,))
    minimum = int(os.environ.get("FSDP_MIN_NUM_PARAMS", "100000"))
    model = mlp(512, 4)
    units = 0
    for layer in model:
        if sum(p.numel() for p in layer.parameters()) >= minimum:
            fully_shard(layer, mesh=mesh)
            units += 1
    model = fully_shard(model, mesh=mesh)
    log.info("Applied FSDP to the model: %d units, min_num_params %d", units + 1, minimum)
    optimizer = optimise(model)
    log.info("Training starts at step 1")
    for step in range(1, 20):
        log_titan(step, update(model, optimizer, batch(32, 512)))
    finish()
