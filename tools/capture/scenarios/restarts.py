"""Jobs under torchrun --max-restarts: what happens on which attempt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import torch

from scenarios import scenario
from scenarios.common import (
    ATTEMPT,
    RANK,
    batch,
    finish,
    init,
    logger,
    logging_setup,
    train_step,
    trainee,
)


def _train(first: int = 0, last: int = 8) -> None:
    model, optimizer = trainee()
    for step in range(first, last):
        train_step(model, optimizer, step, batch())


@scenario("restart-succeeds")
def restart_succeeds() -> None:
    """Rank 1 loses a connection on the first attempt, the second ends well: healthy, with a warning."""
    init(20)
    _train(last=4)
    if ATTEMPT == 0 and RANK == 1:
        raise ConnectionResetError(104, "Connection reset by peer", "s3://corpus/shard-00017.tar")
    _train(first=4)
    if RANK == 0:
        print("training complete", flush=True)
    finish()


@scenario("restart-recurs")
def restart_recurs() -> None:
    """Rank 1 raises the same ValueError on every attempt: user code, rank 1."""
    init(20)
    _train(last=3)
    if RANK == 1:
        raise ValueError("sample 4711: expected 2048 tokens, got 0")
    _train(first=3)
    finish()


@scenario("restart-oom-then-port")
def restart_oom_then_port() -> None:
    """Attempt 0: rank 1 runs out of memory. Rank 0's metrics server outlives it, so attempt 1 and 2 find
    its port taken: gpu-oom, rank 1."""
    logging_setup()
    if RANK == 0:
        code = (
            "import socket,time;s=socket.socket();s.bind(('127.0.0.1',29871));s.listen();"
            "print('metrics server on port 29871',flush=True);time.sleep(120)"
        )
        server = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        try:
            status = server.wait(timeout=2)
        except subprocess.TimeoutExpired:
            logger.info("metrics server runs as process %d", server.pid)
        else:
            raise RuntimeError(f"metrics server ended with status {status}")
    init(20)
    _train(last=4)
    if RANK == 1:
        torch.empty(200 << 30, dtype=torch.uint8, device="cuda")
    _train(first=4)
    finish()


@scenario("restart-other-cause")
def restart_other_cause() -> None:
    """Attempt 0: rank 0 is killed. Attempt 1 resumes, gets further and fails with an error of rank 1's own:
    user code, rank 1."""
    init(20)
    resumed = 6 if ATTEMPT else 0
    if ATTEMPT:
        print(f"rank {RANK}: resumed from checkpoint at step 6", flush=True)
    _train(resumed, resumed + 6)
    if ATTEMPT == 0 and RANK == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    _train(resumed + 6, resumed + 12)
    if RANK == 1:
        raise KeyError("image/encoded")
    finish()
