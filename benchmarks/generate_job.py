"""Generate what a job leaves behind when each rank writes its own file and no two lines are equal.

One rank runs out of memory; all others wait for it until their watchdogs end them.

usage: python benchmarks/generate_job.py DIR [--ranks 512] [--kilobytes 200]
"""

from __future__ import annotations

import argparse
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

UNIQUE = 2 << 20
"""Bytes of a file that are not said twice."""
STAMP = "2026-11-20 18:{m:02d}:{s:02d},{ms:03d}"
OUT_OF_MEMORY = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 412, in <module>
    main()
  File "/workspace/train.py", line 377, in main
    loss.backward()
  File "/opt/venv/lib/python3.11/site-packages/torch/_tensor.py", line 625, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU {gpu} has a total capacity of 79.10 GiB \
of which 512.00 MiB is free. Process {pid} has 78.50 GiB memory in use. Of the allocated memory 74.20 GiB is allocated \
by PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated.
"""
WAITED = (
    "[rank{rank}]:[E1120 19:09:{s:02d}.{us:06d}154 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=90210, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, "
    "Timeout(ms)=600000) ran for 6000{us2:02d} milliseconds before timing out.\n"
)


def start(rng: random.Random, rank: int, ranks: int) -> str:
    """What a rank prints before its first step."""
    host, gpu, pid = f"gpu-node-{rank // 8:02d}", rank % 8, 40000 + rng.randrange(9000)
    comm = f"0x{rng.getrandbits(44):x}"
    lines = [
        f"{host}:{pid}:{pid} [{gpu}] NCCL INFO Bootstrap : Using eth0:10.0.{rank // 8}.7<0>",
        f"{host}:{pid}:{pid + 71} [{gpu}] NCCL INFO ncclCommInitRank comm {comm} rank {rank} nranks {ranks} "
        f"cudaDev {gpu} nvmlDev {gpu} busId {(gpu + 1) << 12:x} commId 0x9cd0a43bfd6c0f1 - Init START",
        *(
            f"{host}:{pid}:{pid + 71} [{gpu}] NCCL INFO Channel {channel:02d}/0 : {rank}[{gpu}] -> "
            f"{(rank + 1) % ranks}[{(rank + 1) % 8}] via P2P/CUMEM/read"
            for channel in range(24)
        ),
        f"{host}:{pid}:{pid + 71} [{gpu}] NCCL INFO ncclCommInitRank comm {comm} rank {rank} nranks {ranks} "
        f"cudaDev {gpu} nvmlDev {gpu} busId {(gpu + 1) << 12:x} commId 0x9cd0a43bfd6c0f1 - Init COMPLETE",
        f"UserWarning: model compiled for rank {rank} in {rng.uniform(30, 60):.1f} s, cache {rng.getrandbits(60):x}",
    ]
    return "\n".join(lines) + "\n"


def step(rng: random.Random, rank: int, number: int) -> str:
    """The lines of one step."""
    stamp = STAMP.format(m=number // 60 % 60, s=number % 60, ms=rng.randrange(1000))
    lines = [
        f"{stamp} INFO trainer rank={rank} step {number}/500000 loss {rng.uniform(1, 3):.4f} "
        f"grad_norm {rng.uniform(0, 9):.3f} lr 1.0e-04 {rng.uniform(800, 900):.1f} ms",
        f"{stamp} DEBUG data shard {rng.randrange(4096):05d} of rank {rank} opened, {rng.randrange(1 << 30)} bytes left",
        f"{stamp} tokens/s {rng.uniform(1e5, 2e5):.0f} mfu {rng.uniform(40, 45):.2f} mem {rng.uniform(60, 70):.1f} GiB",
    ]
    return "\n".join(lines) + "\n"


def end(rng: random.Random, rank: int, failed: int) -> str:
    """What a rank prints last."""
    if rank == failed:
        return OUT_OF_MEMORY.format(gpu=rank % 8, pid=50000 + rank)
    return WAITED.format(rank=rank, s=rng.randrange(60), us=rng.randrange(10**6), us2=rng.randrange(100))


def write(path: Path, rank: int, ranks: int, size: int) -> None:
    """Write the file of one rank; from ``UNIQUE`` bytes on its steps are those that were there before."""
    rng = random.Random(20261120 + rank)
    begin = start(rng, rank, ranks)
    steps, written = [begin], len(begin)
    while written < min(size, UNIQUE):
        steps.append(step(rng, rank, len(steps)))
        written += len(steps[-1])
    once = "".join(steps).encode()
    again = once[len(begin.encode()) :]
    with path.open("wb") as stream:
        stream.write(once)
        while written < size:
            written += stream.write(again)
        stream.write(end(rng, rank, ranks * 3 // 7).encode())


def main() -> None:
    """Write one file for each rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument("--kilobytes", type=int, default=200, help="of each file, about")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor() as pool:
        written = [
            pool.submit(
                write, options.directory / f"rank_{rank}.err", rank, options.ranks, options.kilobytes << 10
            )
            for rank in range(options.ranks)
        ]
        for job in written:
            job.result()


if __name__ == "__main__":
    main()
