"""Batch job ids in file names, and telling the files of many jobs apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Source
from triage.sources import group_jobs, job_id_of


@pytest.mark.parametrize(
    ("name", "job"),
    {
        "slurm-123.out": "123",
        "slurm-4711.err": "4711",
        "slurm-123_4.out": "123_4",
        "logs/slurm-99.out.gz": "99",
        "slurm-123-node05.out": "123",
        "job-123-5.out": "123",
        "job_48213.err": "48213",
        "job12345.log": "12345",
        "jobid=88123.log": "88123",
        "train.o48213": "48213",
        "train.e48213.2": "48213",
        "llama-70b-482133.out": "482133",
        "llama_482133.err.gz": "482133",
        "pretrain-482133_7.out": "482133",
    }.items(),
)
def test_job_ids(name: str, job: str) -> None:
    assert job_id_of(name) == job


@pytest.mark.parametrize(
    "name",
    [
        "job.err",
        "job-1.log",
        "job_003.log",
        "job-20240131.log",
        "job-2024-01-31.log",
        "jobs.log",
        "rank_12345.log",
        "train-20240131.out",
        "train-482133.log",
        "train-99999999.out",
        "nccl_node05_482133.out",
        "worker-7f3a-01000000-12345.err",
        "core.48213",
        "step-48213.log",
        "slurmctld.log",
        "12345/job.err",
    ],
)
def test_numbers_that_are_no_job_ids(name: str) -> None:
    assert job_id_of(name) is None


def grouped(*paths: str) -> list[list[str]]:
    return [[s.name for s in job] for job in group_jobs([Source(path, path=path) for path in paths])]


def test_by_job_id_in_the_name_wherever_the_file_is() -> None:
    assert grouped("d/slurm-1.out", "d/slurm-2.out", "d/old/slurm-1.err") == [
        ["d/slurm-1.out", "d/old/slurm-1.err"],
        ["d/slurm-2.out"],
    ]


def test_array_tasks_are_jobs() -> None:
    assert len(grouped("slurm-7_1.out", "slurm-7_2.out", "slurm-7_1.err")) == 2


def test_by_sub_directory() -> None:
    assert grouped("runs/a/job.err", "runs/a/logs/rank_0.log", "runs/b/job.err") == [
        ["runs/a/job.err", "runs/a/logs/rank_0.log"],
        ["runs/b/job.err"],
    ]
    assert grouped("/runs/a/x.err", "/runs/b/x.err") == [["/runs/a/x.err"], ["/runs/b/x.err"]]


@pytest.mark.parametrize(
    "paths",
    [
        ("d/attempt_0/0/stderr.log", "d/attempt_0/1/stderr.log", "d/attempt_1/0/stderr.log"),
        ("d/rank_0/err", "d/rank_1/err", "d/job.log"),
        ("d/node01/job.err", "d/node02/job.err"),
        ("d/0/stderr.log", "d/1/stderr.log"),
        ("d/worker_0/x.log", "d/worker_1/x.log"),
        ("d/logs/x.err", "d/traces/nccl_trace_rank_0"),
        ("d/rank_0.err", "d/rank_1.err", "d/dmesg.txt"),
        ("d/node01.err", "d/node02.err"),
    ],
)
def test_the_parts_of_one_job_stay_together(paths: tuple[str, ...]) -> None:
    assert grouped(*paths) == [list(paths)]


def test_a_file_for_each_job_with_its_other_stream() -> None:
    assert grouped("d/a.err", "d/a.out", "d/b.log.gz", "d/c") == [
        ["d/a.err", "d/a.out"],
        ["d/b.log.gz"],
        ["d/c"],
    ]


def test_what_has_no_path_is_a_job_by_its_name() -> None:
    sources = [Source("<stdin>", data=b""), Source("slurm-5.out", data=b""), Source("slurm-5.err", data=b"")]
    assert group_jobs(sources) == [[sources[0]], sources[1:]]


def test_nothing_gives_nothing() -> None:
    assert group_jobs([]) == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="/ab0_.-", min_size=1, max_size=12), max_size=8))
def test_every_source_is_in_exactly_one_job(paths: list[str]) -> None:
    sources = [Source(path, path=path) for path in paths]
    flat = [source for job in group_jobs(sources) for source in job]
    assert sorted(s.name for s in flat) == sorted(paths)
