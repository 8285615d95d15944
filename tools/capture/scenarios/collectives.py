"""Tensor-parallel and expert-parallel groups whose ranks do not agree on a collective."""

from __future__ import annotations

from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from scenarios import scenario
from scenarios.common import CUDA, DEVICE, RANK, WORLD, finish, init


def _mesh(data: int, tensor: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    mesh = init_device_mesh("cuda" if CUDA else "cpu", (data, tensor), mesh_dim_names=("dp", "tp"))
    groups = mesh.get_group("dp"), mesh.get_group("tp")
    for group in groups:
        # the groups of a mesh get the backend's default timeout, not that of the default group
        dist.distributed_c10d._set_pg_timeout(timedelta(seconds=15), group)
    return groups


def _settle(group: dist.ProcessGroup, steps: int = 5, numel: int = 4096) -> None:
    """A few collectives that go well, so that sequence numbers are not the first ones."""
    for step in range(steps):
        value = torch.ones(numel, device=DEVICE)
        dist.all_reduce(value, group=group)
        if RANK == 0:
            print(f"iteration {step} ok ({value[0].item():.0f})", flush=True)


@scenario("tp-wrong-op")
def tp_wrong_op() -> None:
    """In a tensor-parallel group of four, rank 3 calls reduce_scatter where the others all-reduce:
    desync, 3."""
    init()
    _, tensor = _mesh(1, 4)
    _settle(tensor)
    hidden = torch.ones(4096, device=DEVICE)
    if RANK == 3:
        dist.reduce_scatter_tensor(torch.empty(1024, device=DEVICE), hidden, group=tensor)
    else:
        dist.all_reduce(hidden, group=tensor)
    print(f"rank {RANK}: {hidden.sum().item():.0f}", flush=True)
    finish()


@scenario("tp-wrong-op-pair")
def tp_wrong_op_pair() -> None:
    """2 x 2 mesh: in the second tensor-parallel pair rank 2 gathers while rank 3 reduces: desync, 2 or 3."""
    init()
    data, tensor = _mesh(2, 2)
    _settle(tensor)
    _settle(data, 3)
    hidden = torch.ones(2048, device=DEVICE)
    if RANK == 2:
        dist.all_gather_into_tensor(torch.empty(4096, device=DEVICE), hidden, group=tensor)
    else:
        dist.all_reduce(hidden, group=tensor)
    dist.all_reduce(hidden, group=data)
    print(f"rank {RANK}: {hidden.sum().item():.0f}", flush=True)
    finish()


@scenario("groups-created-in-different-order")
def groups_created_in_different_order() -> None:
    """Rank 3 creates its two groups in the other order, so it joins the wrong communicator: desync, rank
    3."""
    init()
    names = ("context", "expert") if RANK == 3 else ("expert", "context")
    groups = {name: dist.new_group(list(range(WORLD)), group_desc=name) for name in names}
    _settle(dist.group.WORLD)
    dist.all_reduce(torch.ones(1024, device=DEVICE), group=groups["expert"])
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: expert group ready", flush=True)
    dist.all_reduce(torch.ones(4096, device=DEVICE), group=groups["context"])
    finish()


@scenario("new-group-on-members-only")
def new_group_on_members_only() -> None:
    """Ranks 0 and 1 create a group that the others do not, so the next group's name differs there: desync."""
    init()
    _settle(dist.group.WORLD)
    if RANK < 2:
        pair = dist.new_group([0, 1], group_desc="embedding")
        dist.all_reduce(torch.ones(8, device=DEVICE), group=pair)
    everyone = dist.new_group(list(range(WORLD)), group_desc="expert")
    print(f"rank {RANK}: groups ready", flush=True)
    dist.all_reduce(torch.ones(2048, device=DEVICE), group=everyone)
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: first expert step done", flush=True)
    finish()


@scenario("object-not-picklable")
def object_not_picklable() -> None:
    """Rank 0 broadcasts an object that cannot be pickled and raises; the others wait: user code, rank 0."""
    init()
    _settle(dist.group.WORLD)
    payload = [{"schedule": (lambda step: step * 0.9)} if RANK == 0 else None]
    dist.broadcast_object_list(payload, src=0)
    print(f"rank {RANK}: received the schedule", flush=True)
    finish()


@scenario("object-source-differs")
def object_source_differs() -> None:
    """Ranks 2 and 3 broadcast objects from rank 2, ranks 0 and 1 from rank 0: desync, cannot be told."""
    init()
    _settle(dist.group.WORLD)
    payload = [{"run": "a" * (10 + RANK)}]
    dist.broadcast_object_list(payload, src=RANK // 2 * 2)
    print(f"rank {RANK}: run {payload[0]}", flush=True)
    dist.barrier()
    finish()


@scenario("all-gather-length-differs")
def all_gather_length_differs() -> None:
    """Rank 2 gathers 4096 padded tokens where the others gather 1024: desync, rank 2."""
    init()
    _settle(dist.group.WORLD)
    size = 1 << 22 if RANK == 2 else 1 << 20
    tokens = torch.ones(size, device=DEVICE)
    dist.all_gather_into_tensor(torch.empty(size * WORLD, device=DEVICE), tokens)
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: gathered", flush=True)
    dist.barrier()
    finish()


@scenario("reduce-dtype-differs")
def reduce_dtype_differs() -> None:
    """Rank 1 reduces in bfloat16, the others in float32, the same number of elements: desync, rank 1."""
    init()
    _settle(dist.group.WORLD)
    kind = torch.bfloat16 if RANK == 1 else torch.float32
    gradient = torch.ones(1 << 24, device=DEVICE, dtype=kind)
    dist.all_reduce(gradient)
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: gradient norm {gradient.float().norm().item():.1f}", flush=True)
    dist.barrier()
    finish()


@scenario("all-to-all-counts-differ")
def all_to_all_counts_differ() -> None:
    """Expert parallelism: rank 1 sends rank 2 fewer tokens than rank 2 expects: desync, ranks 1 and 2."""
    init()
    _settle(dist.group.WORLD)
    rows = 1 << 18
    sends = [rows] * WORLD
    if RANK == 1:
        sends[2] = rows // 2
    tokens = torch.ones(sum(sends), 64, device=DEVICE)
    out = torch.empty(rows * WORLD, 64, device=DEVICE)
    dist.all_to_all_single(out, tokens, [rows] * WORLD, sends)
    if CUDA:
        torch.cuda.synchronize()
    print(f"rank {RANK}: dispatched {tokens.shape[0]} tokens", flush=True)
    dist.barrier()
    finish()


@scenario("all-to-all-split-error")
def all_to_all_split_error() -> None:
    """Rank 3's split sizes do not add up to its tokens and torch refuses them: user code, rank 3."""
    init()
    _settle(dist.group.WORLD)
    rows = 256
    tokens = torch.ones(rows * WORLD - (1 if RANK == 3 else 0), 64, device=DEVICE)
    out = torch.empty(rows * WORLD, 64, device=DEVICE)
    dist.all_to_all_single(out, tokens, [rows] * WORLD, [rows] * WORLD)
    print(f"rank {RANK}: dispatched {tokens.shape[0]} tokens", flush=True)
    finish()


@scenario("desync-report")
def desync_report() -> None:
    """Rank 2 leaves two collectives out; TORCH_NCCL_DESYNC_DEBUG=1 writes its report: desync, rank 2."""
    init()
    for step in range(12):
        value = torch.ones(1024 + step, device=DEVICE)
        if RANK == 2 and step in (6, 7):
            continue
        dist.all_reduce(value)
        print(f"rank {RANK} step {step}: {value[0].item():.0f}", flush=True)
    finish()
