"""Code on the GPU, graphs, compilation, numbers."""

from __future__ import annotations

import ctypes
import logging
import time

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import DEVICE, RANK, finish, network, optimise, optimised, replicate
from scenarios.programs.house import (
    batch,
    connect,
    epochs,
    everyone,
    hugging,
    logger_of,
    mlp,
    nano,
    say,
    small,
    speed,
    titan,
    update,
)
from scenarios.programs.trainers import log_megatron, log_timm, trainer_logger

try:
    import triton
    import triton.language as tl

    @triton.jit
    def scale_rows(source, target, stride, count, block: tl.constexpr):
        row = tl.program_id(0)
        columns = tl.arange(0, block)
        values = tl.load(source + row * stride + columns, mask=columns < count)
        tl.store(target + row * stride + columns, values * 0.5, mask=columns < count)

    @triton.jit
    def sum_rows(source, target, count, block: tl.constexpr):
        columns = tl.arange(0, block)
        values = tl.load(source + columns, mask=columns < count)
        weights = tl.arange(0, 64)
        tl.store(target, tl.sum(values * weights))
except ImportError:
    pass


@scenario("position-beyond-table")
def position_beyond_table() -> None:
    """A position of rank 1 is beyond the embedding table, the index kernel asserts: cuda-kernel, rank 1."""
    logger_of("rank")
    connect(14)
    model, optimizer = optimised(
        replicate(nn.Sequential(nn.Embedding(2048, 256), nn.Linear(256, 64)).to(DEVICE))
    )
    for step in range(20):
        positions = torch.arange(512, device=DEVICE).repeat(8, 1) + (1700 if RANK == 1 and step == 8 else 0)
        everyone(step, update(model, optimizer, positions))
    finish()


@scenario("row-stride-wrong")
def row_stride_wrong() -> None:
    """A Triton kernel of rank 2 gets a row stride far too large: cuda-kernel, rank 2."""
    connect(14)
    model, optimizer = small()
    for step in range(20):
        inputs = batch()
        scaled = torch.empty_like(inputs)
        stride = inputs.stride(0) * (1 << 22 if RANK == 2 and step == 9 else 1)
        scale_rows[(32,)](inputs, scaled, stride, 256, block=256)
        nano(step, update(model, optimizer, scaled))
    finish()


@scenario("built-for-older")
def built_for_older() -> None:
    """A kernel library was built for another architecture only: driver-or-version, all ranks."""
    logger_of("titan")
    connect(14)
    library = ctypes.CDLL("./librms.so")
    model, optimizer = small()
    for step in range(1, 10):
        inputs = batch()
        library.rms_norm(
            ctypes.c_void_p(inputs.data_ptr()), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        )
        inputs = inputs + torch.zeros_like(inputs)
        titan(step, update(model, optimizer, inputs))
    finish()


@scenario("item-while-capturing")
def item_while_capturing() -> None:
    """The captured step reads a value back to the host: compile-or-graph-capture, all ranks."""
    logger_of("plain")
    connect(14)
    model, static = mlp(), batch()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for step in range(5):
            loss = model(static).square().mean()
            loss.backward()
            everyone(step, loss.item())
    torch.cuda.synchronize()
    say("warm-up done, capturing the training step")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = model(static).square().mean()
        scale = 1.0 if loss.item() < 10 else 0.1
        (loss * scale).backward()
    for step in range(5, 20):
        graph.replay()
        everyone(step, loss.item())
    finish()


@scenario("lengths-recompile")
def lengths_recompile() -> None:
    """Rank 2's lengths differ from step to step, fullgraph forbids the ninth compilation: compile, rank 2."""
    import torch._dynamo

    logger_of("hf")
    connect(60)
    torch._dynamo.config.recompile_limit = 3
    torch._dynamo.config.fail_on_recompile_limit_hit = True
    model = mlp(64, 1)

    @torch.compile(backend="aot_eager", dynamic=False)
    def forward(inputs: torch.Tensor) -> torch.Tensor:
        return model(inputs).square().mean()

    optimizer = optimise(model)
    for step in range(20):
        length = 128 if RANK != 2 else 128 - 8 * step
        loss = forward(torch.randn(length, 64, device=DEVICE))
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad()
        hugging(step, loss.item())
    finish()


@scenario("kernel-does-not-compile")
def kernel_does_not_compile() -> None:
    """A Triton kernel multiplies blocks of different shapes: compile-or-graph-capture, all ranks."""
    logger_of("mm")
    connect(14)
    model, optimizer = small()
    for step in range(1, 10):
        inputs = batch()
        if step == 6:
            total = torch.empty(1, device=DEVICE)
            sum_rows[(1,)](inputs, total, 256, block=256)
        epochs(step, update(model, optimizer, inputs))
    finish()


@scenario("loss-guard")
def loss_guard() -> None:
    """A feature of rank 3 is infinite, its loss guard raises: numerics, rank 3."""
    log = logger_of("rank")
    connect(14)
    model, optimizer = small()
    for step in range(20):
        inputs = batch()
        if RANK == 3 and step == 9:
            inputs[4, 17] = float("inf")
        loss = model(inputs).square().mean()
        if not torch.isfinite(loss):
            log.error("step %d: loss=%s, grad_norm of last step 0.83, lr 3e-4", step, loss.item())
            raise FloatingPointError(f"Loss is {loss.item()}, stopping training")
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        everyone(step, loss.item())
    finish()


@scenario("anomaly-detected")
def anomaly_detected() -> None:
    """Rank 1 normalises a row of zeros, anomaly detection names the backward: numerics, rank 1."""
    connect(14)
    torch.autograd.set_detect_anomaly(True)
    model, optimizer = optimised(replicate(nn.Linear(256, 256, bias=False).to(DEVICE)))
    for step in range(20):
        inputs = batch()
        if RANK == 1 and step == 8:
            inputs[3] = 0
        hidden = model(inputs)
        norms = hidden.square().sum(-1).sqrt()
        loss = (hidden.sum(-1) * norms).mean() + norms.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        speed(step, loss.item())
    finish()


@scenario("norm-of-gradients")
def norm_of_gradients() -> None:
    """Rank 1's batch overflows, every rank's clipping raises: numerics, all ranks."""
    trainer_logger("absl")
    connect(14)
    model, optimizer = small()
    for step in range(30):
        inputs = batch() * (3e30 if RANK == 1 and step == 13 else 1)
        loss = model(inputs).square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0:
            logging.getLogger("train").info(
                "Step: %d, loss: %.5f, grad_norm: %.4f", step, loss.item(), norm.item()
            )
        time.sleep(0.1)
    finish()


@scenario("classes")
def classes() -> None:
    """A label of rank 3 is beyond the classes: cuda-kernel, rank 3."""
    trainer_logger("short")
    connect(14)
    model = replicate(network(256, 3, 1000))
    optimizer = optimise(model)
    for step in range(40):
        labels = torch.randint(0, 1000, (64,), device=DEVICE)
        if RANK == 3 and step == 15:
            labels[17] = 1000
        loss = nn.functional.cross_entropy(model(batch(64)), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log_timm(step, loss.item())
        time.sleep(0.1)
    finish()


@scenario("one-graph")
def one_graph() -> None:
    """A value is read back in a function compiled as one graph: compile-or-graph-capture, all ranks."""
    trainer_logger("nemo", main_only=True)
    connect(14)
    model, optimizer = small()

    @torch.compile(fullgraph=True, backend="aot_eager")
    def scaled(out: torch.Tensor) -> torch.Tensor:
        loss = out.square().mean()
        if loss.item() > 10:
            loss = loss * 0.1
        return loss

    for step in range(20):
        loss = scaled(model(batch()))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        log_megatron(step, loss.item())
    finish()
