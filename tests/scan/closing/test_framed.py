"""Texts in the frames that MPI's launchers print, where a log ends with one."""

from __future__ import annotations

from pathlib import Path

import pytest

import triage

RULER = "-" * 74
REFUSED = (
    "A sequential map was requested, but not enough node entries\n"
    "were given to support the requested number of processes:\n\n  Num procs: 8\n  Num nodes: 4\n"
)
WARNED = (
    "WARNING: An invalid value was given for btl_tcp_if_exclude.  This\nvalue will be ignored.\n\n"
    "  Local host: node7\n  Value:      eth9\n"
)


def diagnosed(tmp_path: Path, text: str) -> triage.Diagnosis:
    """What is made of a log."""
    log = tmp_path / "job.log"
    log.write_text(text, encoding="utf-8")
    return triage.diagnose([log])


@pytest.mark.parametrize(
    "below",
    [
        "",
        "[node7:4711] 3 more processes have sent help message help-prte-rmaps-seq.txt / seq:not-enough\n"
        '[node7:4711] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages\n',
        "srun: error: node7: task 0: Exited with exit code 1\n",
    ],
)
def test_what_a_launcher_says_last_in_its_frame_is_why_nothing_ran(tmp_path: Path, below: str) -> None:
    found = diagnosed(tmp_path, f"+ mpirun -np 8 ./train\n{RULER}\n{REFUSED}{RULER}\n{below}")
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.category == "config"
    assert "not enough node entries" in found.root_cause.evidence[0].text


def test_a_warning_in_a_frame_fails_nothing(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path, f"step 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\n{RULER}\n{WARNED}{RULER}\n"
    )
    assert found.verdict == "healthy"


def test_a_frame_that_work_follows_fails_nothing(tmp_path: Path) -> None:
    steps = "".join(f"iteration {n} of the training took 1.2 s\n" for n in range(12))
    assert diagnosed(tmp_path, f"{RULER}\n{REFUSED}{RULER}\n{steps}").verdict == "healthy"


def test_figures_between_rulers_fail_nothing(tmp_path: Path) -> None:
    table = f"{RULER}\nname = total | 12.5 s | 3 calls\nname = mean  | 1.25 s | 30 calls\n{RULER}\n"
    steps = "".join(f"iteration {n} of the training took 1.2 s\n" for n in range(4))
    assert diagnosed(tmp_path, steps + table).verdict == "healthy"
