"""What follows from the end of another process: of a worker that somebody watches, of a server that clients need."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

FATAL = "(EngineCore_DP0 pid=812) ERROR 11-04 11:01:{second} [core.py:710] "
DIED = (
    "(EngineCore_DP0 pid=812) ERROR 11-04 11:01:29 [multiproc_executor.py:154] "
    "Worker proc VllmWorker-3 died unexpectedly{code}, shutting down executor.\n"
)


def raised(second: int, error: str) -> str:
    """What the engine says of an exception of its own."""
    lines = (
        "EngineCore encountered a fatal error.",
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 701, in run_engine_core',
        "    engine_core.run_busy_loop()",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/executor/multiproc_executor.py", line 264, in get',
        "    result = get_response(w)",
        error,
    )
    return "".join(FATAL.format(second=second) + line + "\n" for line in lines)


def diagnosed(engine: Engine, **texts: str) -> Diagnosis:
    """What is said of logs of these names."""
    return engine.diagnose([Source(f"{name}.log", data=text.encode()) for name, text in texts.items()])


@pytest.mark.parametrize("code", ["", " (exit code: -11)", " (exit code: -9)"])
@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: cancelled",
        "AttributeError: 'NoneType' object has no attribute 'enqueue'",
        "zmq.error.ZMQError: Socket operation on non-socket",
        "ValueError: frame 12 has no payload",
    ],
)
def test_who_lost_a_worker_stumbles_over_it(engine: Engine, code: str, error: str) -> None:
    root = diagnosed(engine, job=DIED.format(code=code) + raised(30, error)).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 3)


def test_what_was_raised_before_is_no_consequence(engine: Engine) -> None:
    root = diagnosed(
        engine, job=raised(20, "ValueError: frame 12 has no payload") + DIED.format(code="")
    ).root_cause
    assert root is not None
    assert "frame 12" in root.evidence[0].text


def test_what_comes_long_after_is_no_consequence(engine: Engine) -> None:
    late = raised(30, "ValueError: frame 12 has no payload").replace("11:01:30", "11:31:30")
    root = diagnosed(engine, job=DIED.format(code="") + late).root_cause
    assert root is not None
    assert root.category != "rank-crash"


UNREACHED = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/opt/venv/lib/python3.12/site-packages/trl/extras/vllm_client.py", line 120, in check_server\n'
    "[rank0]:     raise ConnectionError(\n"
    "[rank0]: ConnectionError: The vLLM server can't be reached at http://0.0.0.0:8000 after 240.0 seconds. "
    "Make sure the server is running by running `trl vllm-serve`.\n"
)


def test_a_server_that_failed_explains_its_client(engine: Engine) -> None:
    alone = diagnosed(engine, train=UNREACHED).root_cause
    assert alone is not None
    assert alone.category == "rendezvous"
    root = diagnosed(engine, train=UNREACHED, serve=DIED.format(code="")).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 3)


LOST = (
    "[2025-11-04 10:22:2{rank} TP{rank}] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/sgl-workspace/sglang/python/sglang/srt/utils.py", line 1120, in broadcast_pyobj\n'
    "    dist.broadcast(tensor_size, src=src, group=dist_group)\n"
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.5]:31212\n\n"
)
LOADED = "".join(
    f"[2025-11-04 10:20:00 TP{rank}] Load weight begin. avail mem=77.61 GB\n" for rank in range(4)
)
SEGFAULT = "Fatal Python error: Segmentation fault\n\nThread 0x00007f1e (most recent call first):\n"


def test_dying_words_are_those_of_whom_all_others_lost(engine: Engine) -> None:
    losses = "".join(LOST.format(rank=rank) for rank in (0, 1, 3))
    root = diagnosed(engine, server=LOADED + SEGFAULT + losses).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("python.fatal-error", 2)


def test_dying_words_of_two_are_nobodys(engine: Engine) -> None:
    losses = "".join(LOST.format(rank=rank) for rank in (0, 1))
    root = diagnosed(engine, server=LOADED + SEGFAULT * 2 + losses).root_cause
    assert root is not None
    assert root.origin.rank is None


BARRIER = (
    "[2025-11-04 10:28:00 TP{rank}] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py", line 1290, in load_model\n'
    "    raise ValueError(\n"
    "ValueError: TP rank {rank} could finish the model loading, but there are other ranks that didn't finish "
    "loading. It is likely due to unexpected failures (e.g., OOM) or a slow node.\n\n"
)


@pytest.mark.parametrize(("given_up", "missing"), [((0, 1, 3), 2), ((0, 3), None), ((0, 1, 2, 3), None)])
def test_who_is_not_at_the_barrier_after_loading(
    engine: Engine, given_up: tuple[int, ...], missing: int | None
) -> None:
    text = LOADED + "".join(BARRIER.format(rank=rank) for rank in given_up)
    root = diagnosed(engine, server=text).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("sglang.load-barrier", missing)


STOPPED = (
    "[2025-11-04 10:24:00] INFO:     Shutting down\n"
    "[2025-11-04 10:24:01] INFO:     Application shutdown complete.\n"
    "[2025-11-04 10:24:01] INFO:     Finished server process [4121]\n"
)
CHILDREN = "".join(
    f"[2025-11-04 10:24:01] Child process unexpectedly failed with an exit code 9. pid={pid}\n"
    for pid in (4300, 4301)
)


def test_children_that_end_after_their_server(engine: Engine) -> None:
    assert diagnosed(engine, server=LOADED + STOPPED + CHILDREN).verdict == "healthy"
    root = diagnosed(engine, server=LOADED + CHILDREN).root_cause
    assert root is not None
    assert root.rule_id == "sglang.child-signalled"
