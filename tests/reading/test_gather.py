"""Large logs are read in stretches, by several processes: what is said of them stays the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from triage import Engine
from triage.model import Diagnosis
from triage.sources import BLOCK_SIZE, CONTEXT

STEP = "[2026-11-{d:02d} {h:02d}:{m:02d}:{s:02d}] INFO trainer: iteration {n}/500000 | lm loss: 2.1\n"
TRACEBACK = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/workspace/train.py", line 3, in <module>\n'
    "[rank3]:     main()\n"
    "[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
)
TIMEOUT = (
    "[rank{rank}]:[E1120 18:09:03.456109154 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, "
    "Timeout(ms)=600000) ran for 600012 milliseconds before timing out.\n"
)


def step(n: int) -> str:
    """The line of a step, a second after the one before it."""
    return STEP.format(n=n, d=1 + n // 86400, h=n // 3600 % 24, m=n // 60 % 60, s=n % 60)


def write_log(path: Path, megabytes: int, at: int) -> Path:
    """Steps, a traceback that begins ``at`` bytes into the log, and timeouts of the others at the end."""
    # each step once: what begins anew is another run
    count = 1 + (megabytes << 20) // len(step(0))
    steps = "".join(map(step, range(count)))
    text = steps[: megabytes << 20]
    cut = text.rfind("\n", 0, at) + 1
    path.write_text(
        text[:cut]
        + "x" * (at - cut - 1)
        + "\n"
        + TRACEBACK
        + text[cut:]
        + "".join(TIMEOUT.format(rank=r) for r in (0, 1, 2))
    )
    return path


def said(diagnosis: Diagnosis) -> dict[str, Any]:
    """All but how often progress was seen: it is sampled."""
    record = diagnosis.to_dict()
    record["findings"] = [f for f in record["findings"] if not f["sampled"]]
    del record["stats"]["findings"]
    return record


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.reading.part.SHARD", BLOCK_SIZE)


@pytest.mark.parametrize(
    "at", [100, BLOCK_SIZE - 5, 2 * BLOCK_SIZE - 150, 2 * BLOCK_SIZE - 20, 2 * BLOCK_SIZE + 5]
)
def test_stretches_change_nothing(
    engine: Engine, tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(tmp_path / "job.err", 7, at)
    whole = engine.diagnose(log)
    assert whole.root_cause is not None
    assert whole.root_cause.category == "cuda-kernel"
    assert whole.root_cause.origin.rank == 3
    monkeypatch.setattr("triage.reading.part.SHARD", BLOCK_SIZE)
    assert said(engine.diagnose(log)) == said(whole)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("beyond", [1, CONTEXT - 1, CONTEXT, CONTEXT + 1])
def test_bytes_behind_the_last_stretch_are_read_once(engine: Engine, tmp_path: Path, beyond: int) -> None:
    log = tmp_path / "job.err"
    data = (b"x" * 99 + b"\n") * (3 * BLOCK_SIZE // 100 + 1 + CONTEXT // 50)
    log.write_bytes(data[: 3 * BLOCK_SIZE + beyond])
    (report,) = engine.diagnose(log).sources
    assert report.bytes_read == 3 * BLOCK_SIZE + beyond
    assert report.lines == (3 * BLOCK_SIZE + beyond) // 100 + 1


@pytest.mark.usefixtures("small_shards")
def test_a_budget_cuts_between_stretches_as_within_them(engine: Engine, tmp_path: Path) -> None:
    log = write_log(tmp_path / "job.err", 7, 100)
    for budget in (BLOCK_SIZE // 2, BLOCK_SIZE, 3 * BLOCK_SIZE + 1000):
        diagnosis = engine.diagnose(log, budget=budget)
        assert diagnosis.stats["bytes"] == budget
        assert not diagnosis.sources[0].complete
        assert any(f"only the first {budget}" in note for note in diagnosis.notes)


@pytest.fixture
def large_job(tmp_path: Path) -> list[Path]:
    first = write_log(tmp_path / "rank0.err", 70, 40 << 20)
    (tmp_path / "rank1.err").write_text(TIMEOUT.format(rank=1))
    (tmp_path / "topo.txt").write_text("\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n")
    return [first, tmp_path / "rank1.err", tmp_path / "topo.txt"]


def in_processes(number: int, paths: list[Path], before: str = "") -> str:
    """What a program says that reads with so many processes. Forking needs one without other threads."""
    code = f"import sys, triage\n{before}\nprint(triage.Engine(processes={number}).diagnose(sys.argv[1:]).to_json())"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    return done.stdout


def test_the_number_of_processes_changes_nothing(large_job: list[Path]) -> None:
    one, three = in_processes(1, large_job), in_processes(3, large_job)
    assert one == three
    assert json.loads(one)["root_cause"]["origin"]["rank"] == 3


def test_a_reading_process_that_dies_costs_only_time(large_job: list[Path]) -> None:
    kill = (
        "import os, signal, triage.reading.processes as p\n"
        "read, parent = p.read_part, os.getpid()\n"
        "def die(*a, **k):\n"
        f"    os.getpid() == parent or os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
        "    return read(*a, **k)\n"
        "p.read_part = die"
    )
    assert in_processes(2, large_job, kill) == in_processes(1, large_job)


def test_a_stream_and_bytes_are_read_beside_large_files(tmp_path: Path) -> None:
    log = write_log(tmp_path / "rank0.err", 70, 100)
    code = (
        "import sys, triage\n"
        f"extra = triage.Source('x', data={TIMEOUT.format(rank=1)!r}.encode())\n"
        "print(triage.Engine(processes=2).diagnose([sys.argv[1], extra]).to_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(log)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert len(json.loads(done.stdout)["sources"]) == 2
