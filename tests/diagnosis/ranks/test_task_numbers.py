"""A task's number is that of its rank, unless a launcher speaks under it."""

from __future__ import annotations

from triage import Engine

ADVICE = (
    "{r}: [W1123 18:19:56.509747054 ProcessGroupNCCL.cpp:4051] Warning: [PG ID 0 PG GUID 0(default_pg) Rank {r}] An unbatched"
    " P2P op (send/recv) was called on this ProcessGroup with size 2.\n"
)
THREADS = (
    "{r}: W1120 18:16:04.871000 22723 torch/distributed/run.py:874] Setting OMP_NUM_THREADS environment variable for each"
    " process to be 1 in default\n"
)
FAILED = (
    "1: Traceback (most recent call last):\n"
    '1:   File "/home/u/run/train.py", line 3, in <module>\n'
    "1:     raise KeyError('text')\n"
    "1: KeyError: 'text'\n"
)


def rank_of(engine: Engine, log: str) -> int | None:
    """The rank at fault."""
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    return root.origin.rank


def test_advice_of_the_process_group_is_given_by_a_rank(engine: Engine) -> None:
    assert rank_of(engine, ADVICE.format(r=0) + ADVICE.format(r=1) + FAILED) == 1


def test_advice_about_threads_is_given_by_a_launcher(engine: Engine) -> None:
    assert rank_of(engine, THREADS.format(r=0) + THREADS.format(r=1) + FAILED) is None
