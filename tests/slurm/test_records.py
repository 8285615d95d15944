"""Accounting in all its forms gives the same records, and nothing makes a parser fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.readers import slurm_values as values
from triage.slurm import hookenv, sacct_json, sacct_text, scontrol
from triage.sources.hostlist import MAX_NODES, expand

DATA = Path(__file__).parent / "data"


def test_recorded_table() -> None:
    jobs = {job.display_id: job for job in sacct_text.parse((DATA / "sacct-22.05.txt").read_text(), "|")}
    assert jobs["4"].state == "FAILED"
    assert (jobs["4"].exit_code, jobs["4"].signal) == (1, 0)
    assert [s.id for s in jobs["4"].steps] == ["batch", "0"]
    assert jobs["11"].state == "CANCELLED"
    assert jobs["11"].cancelled_by == jobs["11"].uid
    assert jobs["12"].cancelled_by == 0
    assert jobs["13"].state == "NODE_FAIL"
    assert jobs["13"].nodes == ("node2",)
    assert jobs["10_1"].array_job_id == 10
    assert jobs["10_1"].array_task_id == 1


def test_recorded_json_agrees_with_the_table() -> None:
    table = {job.job_id: job for job in sacct_text.parse((DATA / "sacct-22.05.txt").read_text(), "|")}
    for job in sacct_json.parse((DATA / "sacct-22.05.json").read_text()):
        other = table[job.job_id]
        assert (job.state, job.nodes, job.display_id, job.work_dir) == (
            other.state, other.nodes, other.display_id, other.work_dir
        )  # fmt: skip
        assert [(s.id, s.state) for s in job.steps] == [(s.id, s.state) for s in other.steps]
        assert job.filled(other).uid == other.uid


def test_newer_json() -> None:
    (job,) = sacct_json.parse((DATA / "sacct-24.11.json").read_text())
    assert job.display_id == "900_3"
    assert job.state == "OUT_OF_MEMORY"
    assert job.signal == 125
    assert job.stdout == "/home/alice/train-900_3.out"
    assert job.gpus == 16
    assert job.gpu_hours == 16.0
    assert job.tres["mem"] == 256 << 30
    assert job.limit == 7200.0
    assert job.restarts == 1
    assert job.steps[0].max_rss == 128 << 30
    assert [s.id for s in job.steps] == ["batch", "0"]


def test_hook_environments() -> None:
    epilog = hookenv.parse({
        "SLURM_JOB_ID": "2", "SLURM_ARRAY_JOB_ID": "2", "SLURM_ARRAY_TASK_ID": "7", "SLURM_JOB_EXIT_CODE": "768",
        "SLURM_JOB_EXIT_CODE2": "3:0", "SLURM_JOB_UID": "1001", "SLURM_JOB_NODELIST": "node[1-2]",
        "SLURM_JOB_ACCOUNT": "(null)", "SLURM_JOB_STDOUT": "/tmp/%x-%5j.out", "SLURM_JOB_DERIVED_EC": "256",
    })  # fmt: skip
    assert epilog is not None
    assert (epilog.display_id, epilog.exit_code, epilog.signal) == ("2_7", 3, 0)
    assert epilog.nodes == ("node1", "node2")
    assert epilog.account is None
    assert epilog.derived_exit_code == 1
    completion = hookenv.parse({
        "JOBID": "1", "JOBSTATE": "TIMEOUT", "EXITCODE": "0:15", "UID": "1001", "ARRAYJOBID": "0",
        "ARRAYTASKID": "4294967294", "START": "1795247645", "LIMIT": "365-00:00:00", "NODES": "node1",
    })  # fmt: skip
    assert completion is not None
    assert (completion.state, completion.signal, completion.array_job_id) == ("TIMEOUT", 15, None)
    assert completion.start == 1795247645.0
    assert completion.limit == 365 * 86400


def test_controller_record() -> None:
    (job,) = scontrol.parse(
        "JobId=54 JobName=a b c UserId=alice(1001) GroupId=g(7) JobState=PENDING Reason=launch_failed_requeued_held "
        "ExitCode=0:0 NodeList= WorkDir=/home/alice StdErr= StdIn=/dev/null StdOut=/home/alice/my file-54.out Power="
    )
    assert (job.name, job.uid, job.reason) == ("a b c", 1001, "launch_failed_requeued_held")
    assert job.stdout == "/home/alice/my file-54.out"
    assert job.stderr is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node1", ("node1",)),
        ("gpu-a[001-003,7]", ("gpu-a001", "gpu-a002", "gpu-a003", "gpu-a7")),
        ("r[1-2]n[1-2],x", ("r1n1", "r1n2", "r2n1", "r2n2", "x")),
        ("None assigned", ()),
        (None, ()),
    ],
)
def test_node_lists(text: str | None, names: tuple[str, ...]) -> None:
    assert expand(text) == names


def test_node_lists_are_bounded() -> None:
    assert len(expand("n[0-99999999]")) == MAX_NODES
    assert len(expand("a[1-9999]b[1-9999]c[1-9999]")) == MAX_NODES


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("CANCELLED by 1000", ("CANCELLED", 1000)), ("OUT_OF_ME+", ("OUT_OF_MEMORY", None)), ("TO", ("TIMEOUT", None)),
        ("", (None, None)),
    ],
)  # fmt: skip
def test_states(text: str, state: tuple[str | None, int | None]) -> None:
    assert values.state(text) == state


def test_durations_and_sizes() -> None:
    assert values.duration("1-02:03:04") == 93784.0
    assert values.duration("UNLIMITED") is None
    assert values.size("4Gn") == 4 << 30
    assert values.tres("cpu=4,mem=2G,gres/gpu:h100=8") == {"cpu": 4, "mem": 2 << 30, "gres/gpu:h100": 8}
    assert values.wait_status("768") == (3, 0)
    assert values.wait_status("9") == (0, 9)


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    sacct_text.parse(text)
    sacct_text.parse(f"JobID|State|ExitCode|NodeList\n{text}", "|")
    sacct_json.parse(text)
    scontrol.parse(f"JobId={text}")
    expand(text)
    hookenv.parse({"JOBID": text, "JOBSTATE": text, "START": text, "NODES": text})
    values.moment(text)


_KEYS = [
    "id",
    "state",
    "current",
    "number",
    "set",
    "signal",
    "step",
    "nodes",
    "list",
    "tres",
    "time",
    "array",
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["job_id", "state", "steps", "time", "tres", "exit_code", "array", "nodes", "kill_request_user"]
        ),
        _JSON,
    )
)
def test_any_json_is_read(job: dict[str, object]) -> None:
    import json

    sacct_json.parse(json.dumps({"jobs": [{"job_id": 1, **job}, job]}))
