"""Batch systems' reports that stand above the output of the job."""

from __future__ import annotations

from triage import Engine, Source
from triage.sources.reported import output_first

REPORT = """Sender: LSF System <lsfadmin@cn12>
Subject: Job 88231: <train> in cluster <c1> {how}

Job <train> was submitted from host <login1> by user <ann> in cluster <c1>.

{said}

Resource usage summary:

    Max Memory :                                 131072 MB

The output (if any) follows:

"""
STEPS = "".join(f"2026-03-04 10:11:1{n} INFO step {n} loss 2.{300 - n}\n" for n in range(8))
KILLED = REPORT.format(
    how="Exited",
    said="TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 1.",
)
DONE = REPORT.format(how="Done", said="Successfully completed.")


def test_a_report_is_read_below_its_output() -> None:
    assert output_first((KILLED + STEPS).encode()) == (STEPS + KILLED).encode()
    assert output_first((DONE + STEPS + KILLED + STEPS).encode()) == (STEPS + DONE + STEPS + KILLED).encode()


def test_others_stay_as_they_are() -> None:
    below = (STEPS + KILLED.replace("follows:", "is above this job summary.")).encode()
    assert output_first(below) is None
    assert output_first(STEPS.encode()) is None


def test_what_ended_a_job_was_not_survived(engine: Engine) -> None:
    found = engine.diagnose([Source("lsf.out", data=(KILLED + STEPS).encode())])
    assert found.root_cause is not None
    assert found.root_cause.category == "host-oom"
    well = engine.diagnose([Source("lsf.out", data=(DONE + STEPS).encode())])
    assert well.verdict == "healthy"
