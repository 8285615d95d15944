"""A stack that faulthandler printed shows where the rank is that the others wait for."""

from __future__ import annotations

from triage import Engine, Source

WAIT = (
    "[rank{0}]:[E1121 07:24:17.183912 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=12000) ran for 12045 milliseconds before "
    "timing out.\n"
)
DUMP = """Timeout (0:00:10)!
Thread 0x00007f63ea3e26c0 (most recent call first):
  <no Python frame>

Thread 0x00007f67984cd140 (most recent call first):
  File "/usr/lib/python3.12/{top}
  File "/srv/speech/feed.py", line 8 in fetch
  File "/srv/speech/run.py", line 16 in main
  File "/srv/speech/run.py", line 25 in <module>
"""


def logs(top: str, head: str = "Timeout (0:00:10)!") -> list[Source]:
    """Rank 2 prints its stack, rank 0 as well, and all but rank 2 wait."""
    said = {rank: WAIT.format(rank) for rank in (0, 1, 3)}
    said[2] = DUMP.format(top=top).replace("Timeout (0:00:10)!", head)
    said[0] = DUMP.format(top='threading.py", line 5 in wait') + said[0]
    return [Source(f"rank_{rank}.log", data=text.encode()) for rank, text in sorted(said.items())]


def test_the_missing_rank_is_where_its_stack_says(engine: Engine) -> None:
    root = engine.diagnose(logs('socket.py", line 707 in readinto')).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", 2)
    assert "fetch (/srv/speech/feed.py:8)" in root.summary
    shown = root.evidence[0]
    assert (shown.path, shown.line) == ("rank_2.log", 6)
    inner, own = shown.text.splitlines()
    assert (
        "line 707 in readinto" in inner and "feed.py" in own
    )  # from the innermost call out to the user's own


def test_waiting_for_a_data_loader_is_data_loading(engine: Engine) -> None:
    top = 'site-packages/torch/utils/data/dataloader.py", line 1275 in _try_get_data'
    root = engine.diagnose(logs(top)).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("data-loading", 2)


def test_the_stack_of_an_interpreter_that_died_is_no_place_to_wait_at(engine: Engine) -> None:
    head = "Fatal Python error: Segmentation fault\n"
    root = engine.diagnose(logs('threading.py", line 7 in join', head)).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 2)


def dumped(rank: int, line: str) -> str:
    return (
        f"[worker-{rank}] rank {rank}: step 10 loss 0.2\n"
        f"[worker-{rank}] Timeout (0:00:25)!\n"
        f"[worker-{rank}] Thread 0x00007fccb50bb140 (most recent call first):\n"
        f'[worker-{rank}]   File "/srv/rank/train.py", {line}\n'
        f'[worker-{rank}]   File "/srv/rank/train.py", line 50 in <module>\n'
    )


def test_the_one_stack_that_is_elsewhere_tells_for_whom_the_others_wait(engine: Engine) -> None:
    log = "".join(dumped(r, "line 26 in fill" if r == 2 else "line 43 in main") for r in range(4))
    found = engine.diagnose(Source("job.out", data=(log + "exited with exit code 124\n").encode()))
    assert found.root_cause is not None
    assert (found.root_cause.category, found.root_cause.origin.rank) == ("straggler-or-hang", 2)


def test_stacks_that_are_all_alike_name_nobody(engine: Engine) -> None:
    log = "".join(dumped(r, "line 43 in main") for r in range(4))
    found = engine.diagnose(Source("job.out", data=(log + "exited with exit code 124\n").encode()))
    assert found.root_cause is not None
    assert found.root_cause.origin.rank is None


def test_processes_that_all_wait_for_a_build(engine: Engine) -> None:
    stack = (
        "Stack (most recent call first):\n"
        '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/file_baton.py", line 51 in wait\n'
        '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/cpp_extension.py", line 2286 in _jit_compile\n'
        '  File "/home/a/train.py", line 15 in main\n'
        '  File "/home/a/train.py", line 23 in <module>\n'
    )
    logs = [Source(f"rank{r}.log", data=f"loading extension\n{stack}".encode()) for r in (0, 1)]
    root = engine.diagnose(logs).root_cause
    assert root is not None
    assert root.category == "compile-or-graph-capture"
    assert any("lock" in (step.run or "") for step in root.remediation)
