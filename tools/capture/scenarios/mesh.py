"""Two-dimensional meshes: a fault inside one sub-group, whose ranks count from zero again."""

from __future__ import annotations

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from scenarios import scenario
from scenarios.common import CUDA, DEVICE, RANK, WORLD, finish, init, optimise


def _mesh(shape: tuple[int, ...], names: tuple[str, ...], seconds: float = 14) -> DeviceMesh:
    mesh = init_device_mesh("cuda" if CUDA else "cpu", shape, mesh_dim_names=names)
    for name in names:
        # the groups of a mesh get the backend's default timeout, not that of the default group
        dist.distributed_c10d._set_pg_timeout(timedelta(seconds=seconds), mesh.get_group(name))
    return mesh


class Block(nn.Module):
    """A feed-forward block with the names that a tensor-parallel plan refers to."""

    def __init__(self, width: int = 512) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self.down(torch.relu(self.up(inputs)))


def _parallel(mesh: DeviceMesh, blocks: int = 2) -> nn.Sequential:
    model = nn.Sequential(*(Block() for _ in range(blocks))).to(DEVICE)
    for block in model:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model


def _wait() -> None:
    if CUDA:
        torch.cuda.synchronize()


@scenario("mesh-expert-skipped")
def mesh_expert_skipped() -> None:
    """2 x 2 mesh: rank 3 has no tokens for its expert once and leaves the sub-group's all-reduce out:
    desync, rank 3."""
    init(18)
    mesh = _mesh((2, 2), ("dp", "ep"))
    data, expert = mesh.get_group("dp"), mesh.get_group("ep")
    for step in range(10):
        tokens = 0 if RANK == 3 and step == 5 else 64
        hidden = torch.ones(4096, device=DEVICE)
        if tokens:
            dist.all_reduce(hidden, group=expert)
        dist.all_reduce(torch.ones(2048, device=DEVICE), group=data)
        _wait()
        print(f"[rank {RANK}] step {step}: routed {tokens} tokens", flush=True)
    dist.barrier()
    finish()


@scenario("mesh-replica-late")
def mesh_replica_late() -> None:
    """2 x 2 mesh: rank 1 stays in Python before the data-parallel reduce: straggler-or-hang, rank 1."""
    init(60)
    mesh = _mesh((2, 2), ("dp", "tp"), 12)
    data, tensor = mesh.get_group("dp"), mesh.get_group("tp")
    for step in range(8):
        dist.all_reduce(torch.ones(1024, device=DEVICE), group=tensor)
        if RANK == 1 and step == 4:
            time.sleep(100)
        dist.all_reduce(torch.ones(2048, device=DEVICE), group=data)
        _wait()
        if RANK == 0:
            print(f"step {step} done", flush=True)
    finish()


@scenario("tp-sequence-differs")
def tp_sequence_differs() -> None:
    """Tensor parallel over four: rank 1's batch is longer, its activations do not fit the others'
    all-reduce: desync, rank 1."""
    init(20)
    model = _parallel(_mesh((WORLD,), ("tp",)))
    optimizer = optimise(model)
    for step in range(8):
        length = 640 if RANK == 1 and step == 4 else 512
        optimizer.zero_grad()
        loss = model(torch.ones(4, length, 512, device=DEVICE)).square().mean()
        loss.backward()
        optimizer.step()
        print(f"rank {RANK} step {step}: loss {loss.item():.4f}", flush=True)
    finish()


@scenario("healthy-tp")
def healthy_tp() -> None:
    """Tensor parallel over two, data parallel over two, a few slow steps, ends well: healthy."""
    init(60)
    mesh = _mesh((2, 2), ("dp", "tp"), 60)
    model = _parallel(mesh["tp"])
    optimizer = optimise(model)
    for step in range(8):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 128, 512, device=DEVICE)).square().mean()
        loss.backward()
        for parameter in model.parameters():
            gradient = parameter.grad
            local = gradient.to_local() if hasattr(gradient, "to_local") else gradient
            dist.all_reduce(local, group=mesh.get_group("dp"))
        optimizer.step()
        if RANK == 2 and step == 3:
            print("WARNING rank 2: data queue empty, waiting (timeout=30s)", flush=True)
            time.sleep(8)
        if RANK == 0:
            print(f"step {step} loss {loss.item():.4f} tflops 312.4", flush=True)
    finish()
