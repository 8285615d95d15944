"""Several tries of one job."""

from __future__ import annotations

from pathlib import Path

from triage import Engine, Source

FIXTURES = Path(__file__).parents[2] / "fixtures" / "captured"


def test_two_attempts_that_say_nothing_are_not_a_crash(engine: Engine, tmp_path: Path) -> None:
    for attempt in (0, 1):
        folder = tmp_path / f"attempt_{attempt}" / "0"
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("hello\n")
    assert engine.diagnose(tmp_path).verdict in {"healthy", "inconclusive"}


def test_steps_of_an_unknown_try_are_not_those_of_one_that_could_not_start(engine: Engine) -> None:
    folder = FIXTURES / "restart-oom-then-port"
    steps = "".join(f"step {n} | loss 2.1\n" for n in range(50))
    sources = [
        Source("job.err", data=(folder / "job.err").read_bytes()),
        Source("job.out", data=steps.encode() + (folder / "job.out").read_bytes()),
    ]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("gpu-oom", 1)


BANNER = (
    "W0301 {0}.100000 {1} torch/distributed/run.py:766] Setting OMP_NUM_THREADS environment variable for each process "
    "to be 1 in default, to avoid your system being overloaded.\n"
)
END = (
    "E0301 {0}.400000 {1} torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: {2} "
    "(pid: 12{2}) of binary: /opt/bin/python\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "Root Cause (first observed failure):\n[0]:\n  rank      : {2} (local_rank: {2})\n  exitcode  : 1 (pid: 12{2})\n"
)
STEPS = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 6))


def raised(rank: int, said: str) -> str:
    """An exception of one rank."""
    return f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/w/train.py", line 6, in main\n[rank{rank}]: {said}\n'


def runs(*texts: str) -> Source:
    """Runs whose output was appended to one log."""
    return Source("train.log", data="".join(texts).encode())


def test_a_run_appended_to_a_failed_one_is_judged_by_itself(engine: Engine) -> None:
    first = STEPS + raised(1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    one = BANNER.format("08:00:01", 1201) + first + END.format("08:02:11", 1201, 1)
    two = (
        BANNER.format("09:10:01", 2201)
        + STEPS
        + raised(3, "KeyError: 'rougeL'")
        + END.format("09:22:11", 2201, 3)
    )
    root = engine.diagnose(runs(one, two)).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 3)
    bare = engine.diagnose(runs(one.replace(BANNER.format("08:00:01", 1201), ""), STEPS)).verdict
    assert bare == "healthy"


def test_steps_that_go_on_after_one_launcher_gave_up_begin_no_run(engine: Engine) -> None:
    later = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(6, 9))
    found = engine.diagnose(
        runs(STEPS + raised(1, "KeyError: 'x'") + END.format("08:02:11", 1201, 1) + later)
    )
    assert found.verdict == "failed"
    assert not found.attempts
