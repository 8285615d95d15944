"""What is said at the very end of how the whole came out."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.scan.closing.outcome import tells_of_failure

STEPS = "".join(f"2026-01-27 08:5{i}:08 INFO [master.py:251] Global step {1000 + i}\n" for i in range(5))


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-27 09:12:31 INFO [master.py:311] Job failed with exit reason: PendingTimeout",
        "2026-01-27 09:12:31 INFO job.py:1 - The job has failed: worker 3 not ready",
        "[INFO] Training failed.",
        "2026-01-27 09:12:31 INFO Job finished with status FAILED",
        "Trial exp-1a2b failed after 3 steps",
        "final status: failed",
    ],
)
def test_a_controller_says_in_an_ordinary_tone_that_its_job_failed(engine: Engine, line: str) -> None:
    diagnosis = engine.diagnose(Source("job.log", data=f"{STEPS}{line}\n".encode()))
    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert line.rsplit("INFO ", 1)[-1] in " ".join(e.text for e in diagnosis.root_cause.evidence)


@pytest.mark.parametrize(
    "line",
    [
        "task 3 failed, retrying on another node",
        "completed with errors=0",
        "0 jobs failed",
        "evaluation finished with error rate 0.3",
        "if the run failed, its log is in /scratch",
        "training failed steps: 3",
        "no job has failed",
    ],
)
def test_what_goes_on_or_counts_is_no_end(line: str) -> None:
    assert not tells_of_failure(line)


@pytest.mark.parametrize(
    "line",
    [
        "*** dt below dtmin on rank 3, run given up",
        "controller: job marked FAILED",
        "job has been marked as failed",
    ],
)
def test_what_is_given_up_or_marked_has_failed(line: str) -> None:
    assert tells_of_failure(line)


def test_what_is_given_up_on_is_something_else() -> None:
    assert not tells_of_failure("upload of this run given up on, training goes on")
