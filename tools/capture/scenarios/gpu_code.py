"""Faults in code that runs on the GPU, or in what compiles it."""

from __future__ import annotations

import ctypes
import os

import torch
import torch.distributed as dist
from torch import nn

from scenarios import scenario
from scenarios.common import (
    CUDA,
    DEVICE,
    RANK,
    WORLD,
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


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ["CAPTURE_KERNELS"])


def _launch(name: str, tensor: torch.Tensor) -> None:
    stream = torch.cuda.current_stream().cuda_stream
    getattr(_library(), name)(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_void_p(stream))


def _train_with(kernel: str, rank: int, at: int = 5) -> None:
    init(20)
    model, optimizer = trainee()
    for step in range(10):
        inputs = batch()
        if rank == RANK and step == at:
            _launch(kernel, inputs)
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("illegal-access-others-wait")
def illegal_access_others_wait() -> None:
    """A kernel on rank 2 of four writes far out of bounds: cuda-kernel, rank 2."""
    _train_with("scatter_rows", 2)


@scenario("misaligned-address")
def misaligned_address() -> None:
    """A kernel on rank 0 stores sixteen bytes at an odd address: cuda-kernel, rank 0."""
    _train_with("pack_rows", 0)


@scenario("launch-failure")
def launch_failure() -> None:
    """A kernel on rank 1 executes a trap: cuda-kernel, rank 1."""
    _train_with("check_rows", 1)


@scenario("invalid-launch")
def invalid_launch() -> None:
    """A kernel on rank 3 is launched with 2048 threads in a block: cuda-kernel, rank 3."""
    _train_with("wide_rows", 3)


@scenario("label-out-of-range")
def label_out_of_range() -> None:
    """A label of rank 3 is outside the classes, the loss kernel asserts: cuda-kernel, rank 3."""
    init(20)
    head = replicate(nn.Linear(512, 100).to(DEVICE))
    optimizer = optimise(head)
    for step in range(10):
        labels = torch.randint(0, 100, (32,), device=DEVICE)
        if RANK == 3 and step == 5:
            labels[7] = 100
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(batch()), labels)
        loss.backward()
        optimizer.step()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    finish()


@scenario("cublas-after-assert")
def cublas_after_assert() -> None:
    """An index out of range on rank 1 poisons the context, what is reported is cuBLAS: cuda-kernel, rank
    1."""
    init(20)
    table = nn.Embedding(1000, 256).to(DEVICE)
    value = torch.ones(8, device=DEVICE)
    dist.all_reduce(value)
    tokens = torch.randint(0, 1000, (8, 128), device=DEVICE)
    if RANK == 1:
        tokens[3, 5] = 50257
    hidden = table(tokens)
    logits = hidden @ torch.randn(256, 512, device=DEVICE)
    print(f"rank {RANK}: {logits.float().sum().item():.3f}", flush=True)
    dist.all_reduce(value)
    finish()


@scenario("graph-capture-one-rank")
def graph_capture_one_rank() -> None:
    """Rank 1 reads a value back inside a graph capture, the others replay and wait: graph capture, rank 1."""
    init(20)
    value = torch.ones(1024, device=DEVICE)
    dist.all_reduce(value)
    torch.cuda.synchronize()
    model, inputs = network(), batch()
    with torch.no_grad():
        model(inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            out = model(inputs)
            if RANK == 1 and out.mean().item() > 1e6:
                print("suspicious activations", flush=True)
    graph.replay()
    dist.all_reduce(out.sum())
    torch.cuda.synchronize()
    print(f"rank {RANK}: replayed", flush=True)
    finish()


def _fused_backend(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
    if RANK == 0:
        raise NotImplementedError("no lowering for aten.gelu with dynamic rows")
    return module.forward


@scenario("compile-backend-error")
def compile_backend_error() -> None:
    """The compile backend raises on rank 0 while the others wait: compile-or-graph-capture, rank 0."""
    init(20)
    model, optimizer = optimised(replicate(torch.compile(network(), backend=_fused_backend)))
    for step in range(4):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("compile-no-compiler")
def compile_no_compiler() -> None:
    """CC names a compiler that does not exist, so nothing can be built: compile-or-graph-capture, all
    ranks."""
    init(30)
    model, optimizer = optimised(replicate(torch.compile(network())))
    for step in range(4):
        train_step(model, optimizer, step, batch())
    finish()


@scenario("nan-check")
def nan_check() -> None:
    """Rank 2's gradients become NaN; TORCH_NCCL_NAN_CHECK=1 stops its collective: numerics, rank 2."""
    init(20)
    model, optimizer = trainee()
    for step in range(10):
        inputs = batch()
        if RANK == 2 and step == 5:
            inputs *= float("inf")
        train_step(model, optimizer, step, inputs)
    finish()


@scenario("clip-non-finite")
def clip_non_finite() -> None:
    """Gradients overflow; clipping refuses a non-finite norm on every rank: numerics."""
    init(20)
    model, optimizer = trainee()
    for step in range(10):
        optimizer.zero_grad()
        loss = model(batch() * 1e12 ** (step // 4)).square().mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4e} grad norm {norm.item():.3e}", flush=True)
    finish()


@scenario("loss-scale-collapse")
def loss_scale_collapse() -> None:
    """Half-precision overflow on every step halves the loss scale until the program gives up: numerics."""
    init(20)
    model, optimizer = trainee()
    scaler = torch.amp.GradScaler("cuda" if CUDA else "cpu", init_scale=16.0)
    for step in range(24):
        optimizer.zero_grad()
        with torch.autocast(DEVICE.type, dtype=torch.float16):
            loss = model(batch() * 6e4).float().square().mean() * WORLD
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f} loss_scale {scaler.get_scale():g}", flush=True)
        if scaler.get_scale() < 1e-2:
            raise FloatingPointError(f"loss scale fell to {scaler.get_scale():g}, gradients keep overflowing")
    finish()


@scenario("compile-graph-break")
def compile_graph_break() -> None:
    """Rank 1 takes a branch that prints, which fullgraph=True does not allow: compile, rank 1."""
    init(20)
    model, optimizer = trainee()

    def clip(rows: torch.Tensor) -> torch.Tensor:
        if RANK == 1:
            print("clipping", rows.abs().max().item())
        return rows.clamp(-3, 3)

    compiled = torch.compile(clip, fullgraph=True, backend="eager")
    for step in range(8):
        inputs = batch()
        train_step(model, optimizer, step, compiled(inputs) if step >= 4 else inputs)
    finish()
