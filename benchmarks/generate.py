"""Generate a realistic training log of a given size: mostly progress, rarely anything of interest.

usage: python benchmarks/generate.py PATH SIZE_MB [--hits N] [--flood]
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

FAILURE = (
    "[rank2]:[E1120 18:09:03.456109154 ProcessGroupNCCL.cpp:689] [Rank 2] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, "
    "Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)


def lines(rng: random.Random, step: int) -> list[str]:
    """A few lines as a training job prints them."""
    rank = rng.randrange(8)
    stamp = f"2026-11-20 18:{step // 60 % 60:02d}:{step % 60:02d}"
    return [
        f"[{stamp}] INFO trainer: iteration {step}/500000 | consumed samples: {step * 64} | elapsed time per "
        f"iteration (ms): {rng.uniform(800, 900):.1f} | learning rate: 1.0E-04 | lm loss: {rng.uniform(1, 3):.4f}\n",
        f"[default{rank}]:{stamp},123 - data - DEBUG - shard {rng.randrange(4096):05d} opened, "
        f"{rng.randrange(1 << 30)} bytes left, cache hit ratio {rng.random():.3f}\n",
        f"gpu-node-{rank:02d}:{4000 + rank}:{5000 + rank} [{rank}] NCCL INFO Channel {rng.randrange(24):02d}/0 : "
        f"{rank}[{rank}] -> {(rank + 1) % 8}[{(rank + 1) % 8}] via P2P/CUMEM\n",
        f"{stamp} tokens/s {rng.uniform(1e5, 2e5):.0f} mfu {rng.uniform(40, 45):.2f} mem {rng.uniform(60, 70):.1f} GiB\n",
    ]


def main() -> None:
    """Write the log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("megabytes", type=int)
    parser.add_argument("--flood", action="store_true", help="every fourth line matches the same rule")
    options = parser.parse_args()
    rng = random.Random(20261120)
    chunk: list[str] = []
    for step in range(20000):
        chunk.extend(lines(rng, step))
        if options.flood:
            chunk.append(FAILURE)
    block = "".join(chunk).encode()
    size = options.megabytes << 20
    with options.path.open("wb") as stream:
        written = 0
        while written < size:
            stream.write(block)
            written += len(block)
        stream.write(FAILURE.encode())


if __name__ == "__main__":
    main()
