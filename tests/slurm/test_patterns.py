"""Output file names as Slurm 22.05 formed them on the test cluster, and as documented for later releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.slurm.logs import named_outputs, open_logs
from triage.slurm.patterns import expand
from triage.slurm.record import JobRecord, StepRecord

PLAIN = JobRecord(1, name="wrap", user="alice", work_dir="/w")
TASK = JobRecord(23, array_job_id=20, array_task_id=13, name="wrap", user="alice", work_dir="/w")


@pytest.mark.parametrize(
    ("pattern", "job", "step", "path"),
    [
        ("/o/%x-%j-%A-%a.out", PLAIN, "batch", "/o/wrap-1-1-4294967294.out"),
        ("/o/%J-%n-%t-%s-%u-%5j-%%.out", PLAIN, "batch", "/o/1-0-0-batch-alice-00001-%.out"),
        ("/o/%j-%A-%a-%4a-%b.out", TASK, "batch", "/o/23-20-13-0013-3.out"),
        ("/o/%J.out", PLAIN, "0", "/o/1.0.out"),
        ("slurm-%j.out", PLAIN, "batch", "/w/slurm-1.out"),
        ("/o/a\\%j.out", PLAIN, "batch", "/o/a%j.out"),
        ("/o/%99j.out", PLAIN, "batch", "/o/0000000001.out"),
    ],
)
def test_filled_in(pattern: str, job: JobRecord, step: str, path: str) -> None:
    found = expand(pattern, job, step)
    assert found is not None
    assert (found.path, found.wild) == (path, False)


@pytest.mark.parametrize(
    ("pattern", "step", "path"),
    [
        ("/o/%j-%N.out", "batch", "/o/1-*.out"),
        ("/o/[x]%j-%t.out", "0", "/o/[[]x]1-*.out"),
        ("/o/%J.out", None, "/o/1.*.out"),
    ],
)
def test_what_differs_between_nodes_and_tasks_is_a_glob(pattern: str, step: str | None, path: str) -> None:
    found = expand(pattern, PLAIN, step)
    assert found is not None
    assert (found.path, found.wild) == (path, True)


@pytest.mark.parametrize("pattern", [None, "", "/dev/null", "a\0b", "x" * 5000])
def test_no_file(pattern: str | None) -> None:
    assert expand(pattern, PLAIN) is None


def test_a_job_name_cannot_leave_its_folder() -> None:
    found = expand("/o/%x.out", JobRecord(1, name="../../etc/shadow"))
    assert found is not None
    assert found.path == "/o/.._.._etc_shadow.out"


def test_names_from_the_submit_line() -> None:
    job = JobRecord(
        7, work_dir="/w", submit_line="sbatch -N2 --output=/o/%j.out -e /o/%j.err train.sh -o not-this"
    )
    assert [o.path for o in named_outputs(job)] == ["/o/7.out", "/o/7.err"]
    assert [o.path for o in named_outputs(JobRecord(7, work_dir="/w"))] == ["/w/slurm-7.out"]


def test_per_task_files_and_those_that_carry_the_id(tmp_path: Path) -> None:
    for name in (
        "out-12-0.log",
        "out-12-1.log",
        "rank_1_job12.err",
        "other-112.log",
        "12.pt",
        "triage-12.md",
    ):
        (tmp_path / name).write_text("hello\n")
    job = JobRecord(
        12,
        work_dir=str(tmp_path),
        steps=(StepRecord("0", stdout=str(tmp_path / "out-%j-%t.log")),),
        stdout="/dev/null",
    )
    logs = open_logs(job, uid=None)
    names = sorted(Path(f.path).name for f in logs.files)
    logs.close()
    assert names == ["out-12-0.log", "out-12-1.log", "rank_1_job12.err"]
