from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.slurm_text import SacctReader, ScontrolReader, findings_in

DATA = Path(__file__).parent / "data" / "slurm_text"


def load(name: str) -> str:
    return (DATA / name).read_text()


def findings(name: str) -> list[Finding]:
    reader = ScontrolReader() if name.startswith("show") else SacctReader()
    data = load(name).encode()
    assert reader.recognise("x", data)
    return list(reader.read(data, Source("x"), 0).findings)


def problems(name: str) -> list[tuple[str, object]]:
    context = {"slurm.recorded-job", "slurm.node-state"}
    return [
        (f.rule_id.removeprefix("slurm."), f.fields.get("job_id") or f.fields.get("node"))
        for f in findings(name)
        if f.rule_id not in context
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sacct-oom.txt", [("recorded-out-of-memory", "231")]),
        ("sacct-failed.txt", [("recorded-exit", "501"), ("recorded-step-exit", "501")]),
        (
            "sacct-default.txt",
            [
                ("recorded-cancelled", "774"),
                ("recorded-timeout", "775"),
                ("recorded-completed", "776"),
                ("recorded-node-fail", "777"),
                ("recorded-preempted", "778"),
            ],
        ),
        ("sacct-hidden.txt", [("recorded-step-exit", "900")]),
        ("sacct.json", [("recorded-node-fail", "6001")]),
        ("show-job.txt", [("recorded-launch-failed", "4711")]),
        (
            "show-node.txt",
            [("node-out-gpu", "gpu-a017"), ("node-out-down", "gpu-a018"), ("node-out-drained", "gpu-a020")],
        ),
    ],
)
def test_ends_of_jobs_and_states_of_nodes(name: str, expected: list[tuple[str, str]]) -> None:
    assert problems(name) == expected


def test_memory_of_an_oom_kill() -> None:
    job, oom = findings("sacct-oom.txt")
    assert job.fields["limit"] == 86400.0
    assert oom.fields["requested"] == 16 << 30
    assert (oom.fields["peak"], oom.fields["peak_step"]) == (15980000 << 10, "batch")
    assert oom.host == "gpu-a001"


def test_a_step_that_failed_behind_a_script_that_did_not_care() -> None:
    exit_ = findings("sacct-hidden.txt")[1]
    assert (exit_.fields["exit_code"], exit_.fields["signal"], exit_.fields["step"]) == (137, "SIGKILL", "0")


def test_the_failed_node_is_the_origin() -> None:
    failure = findings("sacct.json")[1]
    assert (failure.host, failure.fields["failed_node"]) == ("gpu-a002", "gpu-a002")
    assert failure.fields["elapsed"] == 1234.0


def test_cancelled_by_whom() -> None:
    text = "JobID|State|ExitCode\n12|CANCELLED by 1001|0:0\n"
    found = SacctReader().read(text.encode(), Source("x"), 0).findings
    assert found[1].fields["cancelled_by"] == 1001


def test_job_names_with_spaces() -> None:
    assert findings("show-job.txt")[0].fields["name"] == "my train"
    one_line = " ".join(line.strip() for line in load("show-job.txt").splitlines())
    found = ScontrolReader().read(one_line.encode(), Source("x"), 0).findings
    assert [f.rule_id for f in found][1:] == ["slurm.recorded-launch-failed"]


def test_inside_a_log() -> None:
    log = "step 1 loss=2.5 lr=0.1\n" * 200
    text = log + load("sacct-oom.txt") + log + load("show-node.txt")
    assert not SacctReader().recognise("x", text.encode())
    assert not ScontrolReader().recognise("x", text.encode())
    assert {"slurm.recorded-out-of-memory", "slurm.node-out-gpu"} <= {
        f.rule_id for f in findings_in(text, Source("x"), 0)
    }
    assert findings_in(log, Source("x"), 0) == ()


def test_cut_json_is_noted() -> None:
    reading = SacctReader().read(load("sacct.json").encode()[:300], Source("x"), 0)
    assert reading.notes and not reading.complete


def test_a_failed_job_of_several_lines_shows_the_one_with_its_state() -> None:
    text = (
        "JobId=12 JobName=start.sh\n   UserId=u(1000) GroupId=u(1000) MCS_label=N/A\n"
        "   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)\n"
        "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=1:0\n   RunTime=00:00:00 TimeLimit=UNLIMITED\n"
    )
    (ended,) = [f for f in findings_in(text, Source("x"), 0) if f.rule_id == "slurm.recorded-exit"]
    shown = "\n".join(e.text for e in ended.evidence)
    assert "JobState=FAILED" in shown
    assert "ExitCode=1:0" in shown


@pytest.mark.parametrize(("count", "rule"), [("0 < 8", "node-out-no-gpu"), ("7 < 8", "node-out-gpu")])
def test_a_node_without_any_gpu_lacks_its_driver(count: str, rule: str) -> None:
    text = load("show-node.txt").replace("7 < 8", count)
    found = ScontrolReader().read(text.encode(), Source("x"), 0).findings
    assert rule in [f.rule_id.removeprefix("slurm.") for f in found]


@pytest.mark.parametrize(("state", "kept"), [("RUNNING", False), ("COMPLETED", False), ("FAILED", True)])
def test_the_runs_before_a_good_one_of_a_requeued_job(state: str, *, kept: bool) -> None:
    text = (
        "JobID|State|ExitCode|Start|End\n"
        "99|PREEMPTED|0:0|2025-04-15T01:00:00|2025-04-15T01:02:00\n"
        "99.0|CANCELLED|0:15|2025-04-15T01:00:01|2025-04-15T01:02:00\n"
        f"99|{state}|{int(state == 'FAILED')}:0|2025-04-15T01:50:00|2025-04-15T02:50:00\n"
    )
    found = SacctReader().read(text.encode(), Source("x"), 0).findings
    assert any("preempted" in f.rule_id or "cancelled" in f.rule_id for f in found) is kept


def test_a_table_that_was_copied_by_hand_stands_a_little_beside_its_rules() -> None:
    table = (
        "JobID           JobName      State ExitCode    Elapsed\n"
        "------------ ---------- ---------- -------- ----------\n"
        "88121           pretrain OUT_OF_ME+    0:125   03:11:40\n"
        "88121.0           python OUT_OF_ME+    0:125   03:11:32\n"
    )
    found = SacctReader().read(table.encode(), Source("sacct.txt"), 0).findings
    assert "slurm.recorded-out-of-memory" in {f.rule_id for f in found}
