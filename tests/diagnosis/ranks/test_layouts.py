"""Ranks of an engine's processes by their coordinates and by what the engine says of its layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import triage

SIZES = "(APIServer pid=50) INFO 10-22 10:00:00 [utils.py:233] non-default args: {{'model': '/m', {sizes}}}\n"
FAULT = "({who} pid=63) !!!!!!! Segfault encountered !!!!!!!\n"


@pytest.mark.parametrize(
    ("sizes", "who", "rank"),
    [
        ("'data_parallel_size': 4", "EngineCore_DP3", 3),
        (
            "'tensor_parallel_size': 2, 'data_parallel_size': 4",
            "EngineCore_DP3",
            None,
        ),  # two workers do its work
        ("'tensor_parallel_size': 2, 'data_parallel_size': 4", "Worker_DP3_TP1", 7),
        ("'tensor_parallel_size': 4, 'pipeline_parallel_size': 2", "Worker_PP1_TP2", 6),
        (
            "'tensor_parallel_size': 4, 'pipeline_parallel_size': 2",
            "Worker_PP2_TP2",
            None,
        ),  # there is no such stage
        ("'seed': 0", "EngineCore_DP0", None),
    ],
)
def test_who_is_which_rank(tmp_path: Path, sizes: str, who: str, rank: int | None) -> None:
    log = tmp_path / "job.log"
    log.write_text(SIZES.format(sizes=sizes) + FAULT.format(who=who))
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert root.origin.rank == rank


def test_an_engine_that_its_server_misses(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        SIZES.format(sizes="'data_parallel_size': 4")
        + "(APIServer pid=50) ERROR 10-22 10:14:07 [core_client.py:564] Engine core proc EngineCore_DP1 died unexpectedly, "
        "shutting down client.\n"
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the "
        "root cause.\n"
    )
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 1)


@pytest.mark.parametrize(
    ("sizes", "engine", "rank"),
    [
        ("'tensor_parallel_size': 2, 'data_parallel_size': 2", "EngineCore_DP1", 3),
        ("'tensor_parallel_size': 2, 'data_parallel_size': 2", "EngineCore_DP0", 1),
        ("'seed': 0", "EngineCore_DP1", None),  # of how many workers each replica is, nothing says
    ],
)
def test_a_worker_that_its_replica_counts(tmp_path: Path, sizes: str, engine: str, rank: int | None) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        SIZES.format(sizes=sizes)
        + f"({engine} pid=60) ERROR 12-03 08:21:01 [multiproc_executor.py:154] Worker proc VllmWorker-1 died unexpectedly, "
        "shutting down executor.\n"
    )
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("vllm.worker-died", rank)


@pytest.mark.parametrize(
    ("there", "who", "rank"),
    [
        ([f"DP{d}_PP{p}_TP{t}" for d in (0, 1) for p in (0, 1) for t in (0, 1)], "DP1_PP0_TP1", 5),
        ([f"DP{d}_PCP0_TP{t}" for d in (0, 1) for t in range(4)], "DP1_PCP0_TP2", 6),
        ([f"DP1_PP{p}_TP{t}" for p in (0, 1) for t in (0, 1)], "DP1_PP0_TP1", None),  # not the first replica
    ],
)
def test_where_all_that_there_may_be_have_spoken(
    tmp_path: Path, there: list[str], who: str, rank: int | None
) -> None:
    log = tmp_path / "job.log"
    spoken = (
        "(Worker_{} pid={}) INFO 02-02 10:00:00 [gpu_worker.py:298] Available KV cache memory: 48.1 GiB\n"
    )
    lines = "".join(spoken.format(name, 70 + n) for n, name in enumerate(there))
    log.write_text(lines + FAULT.format(who=f"Worker_{who}").replace("63", str(70 + there.index(who))))
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert root.origin.rank == rank


LOST = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/srv/fold/run.py", line 31, in <module>
[rank0]:     dist.all_reduce(h)
[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:3384
"""


@pytest.mark.parametrize(("places", "rank"), [((2, 2), 3), ((2, 4), 5)])
def test_places_of_structured_records_tell_ranks(tmp_path: Path, places: tuple[int, int], rank: int) -> None:
    grid = [(dp, tp) for dp in range(places[0]) for tp in range(places[1])]
    lines = [
        json.dumps({"ts": 1795404676.5 + step, "dp": dp, "tp": tp, "event": "step", "step": step})
        for step in range(4)
        for dp, tp in grid
    ]
    raised = {"ts": 1795404690.1, "dp": 1, "tp": 1, "event": "exception", "error": "KeyError: 'plum'"}
    log = tmp_path / "job.jsonl"
    # two processes write at once
    log.write_text("\n".join(lines) + "\n" + lines[0] + json.dumps(raised) + "\n" + LOST)
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert root.origin.rank == rank
    assert "plum" in root.evidence[0].text


def test_a_line_that_names_others_by_the_same_letter_is_of_one(engine: triage.Engine) -> None:
    """Only where a second beginning stands in it did two write it at once."""
    lines = [
        f"P{n}@770{n} round {k}: sent 30 to P{(n + 1) % 4}, got 30 from P{(n + 3) % 4}"
        for k in range(5)
        for n in range(4)
    ]
    crash = "[box:7702] *** Process received signal ***\n[box:7702] Signal: Segmentation fault (11)\n"
    found = engine.diagnose(
        triage.Source("sort.out", data=("\n".join(lines) + "\n" + crash).encode())
    ).root_cause
    assert found is not None
    assert found.origin.rank == 2


@pytest.mark.parametrize(
    ("stamps", "rank"),
    [
        (["DP0", "DP1", "DP2"], 2),  # a name leaves out what is 1: each replica is one rank
        (["DP0 PP0", "DP0 PP1", "DP1 PP0", "DP1 PP1"], 3),
        (["DP0 PP0", "DP1 PP1"], None),  # how many stages there are is not known
    ],
)
def test_replicas_of_one_rank_each(tmp_path: Path, stamps: list[str], rank: int | None) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        "".join(f"[2026-02-05 17:07:01 {s}] Load weight end. type=Qwen3ForCausalLM\n" for s in stamps)
        + f"[2026-02-05 17:08:10 {stamps[-1]}] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sglang/srt/managers/scheduler.py", line 591, in run_scheduler_process\n'
        "    scheduler.event_loop_overlap()\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", rank)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("VllmWorker-2", 2),
        ("Worker_TP2", 2),
        ("EngineCore_DP2", None),
        ("SpawnProcess-2", None),  # anybody's children are numbered
        ("MainProcess", None),
    ],
)
def test_a_process_named_in_a_field(tmp_path: Path, name: str, rank: int | None) -> None:
    line = {"asctime": "2026-02-05 17:08:10", "levelname": "ERROR", "processName": name}
    message = (
        "WorkerProc hit an exception.\nTraceback (most recent call last):\n"
        '  File "/vllm/v1/executor/multiproc_executor.py", line 591, in worker_busy_loop\n'
        "    output = func(*args, **kwargs)\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered"
    )
    log = tmp_path / "job.log"
    log.write_text(json.dumps({**line, "message": message}) + "\n")
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", rank)


@pytest.mark.parametrize(
    "said",
    ["mp_executor.py:561 - Proc[2] failed", "base_worker.py:164 - WorkerWrapper rank[2] wait_tasks failed."],
)
def test_the_process_that_a_record_names_raised_what_stands_below(tmp_path: Path, said: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        f"2026-02-20 10:02:00,000 - lmdeploy - ERROR - {said}\n"
        "Traceback (most recent call last):\n"
        '  File "/lmdeploy/pytorch/engine/executor/mp_executor.py", line 545, in _main_loop\n'
        "    await worker.wait_tasks()\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "2026-02-20 10:02:01,000 - lmdeploy - ERROR - mp_executor.py:282 - Received custom termination signal from sub "
        "processing, exiting...\n"
    )
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", 2)


def test_an_engine_that_does_not_fit_the_others_is_no_culprit(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        SIZES.format(sizes="'data_parallel_size': 16")
        + "(APIServer pid=50) RuntimeError: Remote engine 8 must use --headless unless in external or hybrid dp lb mode\n"
    )
    root = triage.Engine().diagnose([log]).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("config", None)
