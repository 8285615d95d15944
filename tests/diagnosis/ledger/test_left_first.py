"""Tasks that ended as if all were well, until srun lost patience with the others."""

from __future__ import annotations

from triage import Engine, Source

SRUN = """\
srun: First task exited 10s ago
srun: StepId=5.0 tasks {running}: running
srun: StepId=5.0 {exited}
srun: launch/slurm: _step_signal: Terminating StepId=5.0
srun: Job step aborted: Waiting up to 6 seconds for job step to finish.
slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-23T01:58:39 ***
srun: error: n1: tasks {running}: Killed
"""


def _log(last: str, running: str, exited: str) -> list[Source]:
    text = "".join(f"{task}: day {day} swe {9 - day}\n" for day in range(5) for task in (2, 0, 3, 1))
    return [Source("step.out", data=(text + last + SRUN.format(running=running, exited=exited)).encode())]


def test_who_left_first_left_the_others_waiting(engine: Engine) -> None:
    found = engine.diagnose(_log("2: tile is bare, nothing left to do\n", "0-1,3", "task 2: exited"))
    assert found.root_cause is not None
    assert (found.root_cause.rule_id, found.root_cause.origin.rank) == ("ledger.finished-early", 2)
    assert "nothing left to do" in " ".join(e.text for e in found.root_cause.evidence)


def test_who_left_with_an_error_is_told_by_the_error(engine: Engine) -> None:
    found = engine.diagnose(_log("", "0-1,3", "task 2: exited abnormally"))
    assert found.root_cause is None or found.root_cause.rule_id != "ledger.finished-early"


def test_where_most_left_nobody_left_early(engine: Engine) -> None:
    found = engine.diagnose(_log("", "2", "tasks 0-1,3: exited"))
    assert found.root_cause is None or found.root_cause.rule_id != "ledger.finished-early"
