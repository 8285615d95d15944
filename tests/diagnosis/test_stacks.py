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
