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
