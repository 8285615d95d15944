"""Several tries of one job."""

from __future__ import annotations

from pathlib import Path

from triage import Engine


def test_two_attempts_that_say_nothing_are_not_a_crash(engine: Engine, tmp_path: Path) -> None:
    for attempt in (0, 1):
        folder = tmp_path / f"attempt_{attempt}" / "0"
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("hello\n")
    assert engine.diagnose(tmp_path).verdict in {"healthy", "inconclusive"}
