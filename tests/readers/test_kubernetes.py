from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.kubernetes import KubernetesReader, findings_in

DATA = Path(__file__).parent / "data" / "kubernetes"
READER = KubernetesReader()


def load(name: str) -> str:
    return (DATA / name).read_text()


def findings(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    return [f for f in READER.read(text.encode(), Source("x"), 0).findings if f.rule_id != "kubernetes.pod"]


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("describe-oom.txt", ["restart-loop", "container-oom-killed", "restart-loop"]),
        ("describe-evicted.txt", ["evicted-storage"]),
        ("describe-running.txt", []),
        ("events.txt", ["unschedulable", "image-not-pulled", "preempted"]),
        ("events.json", ["node-oom", "gpu-runtime"]),
        ("pod-preempted.json", ["preempted", "container-exited"]),
        ("pod.yaml.txt", ["container-oom-killed"]),
    ],
)
def test_pods_and_events(name: str, rules: list[str]) -> None:
    assert [f.rule_id.removeprefix("kubernetes.") for f in findings(load(name))] == rules


def test_an_oom_kill_names_container_limit_and_node() -> None:
    killed = next(f for f in findings(load("describe-oom.txt")) if f.rule_id.endswith("oom-killed"))
    assert killed.host == "gpu-12"
    assert killed.fields["container"] == "pytorch"
    assert killed.fields["memory_limit"] == "64Gi"
    assert killed.fields["exit_code"] == 137
    assert "Last State:     Terminated" in killed.evidence[0].text


def test_exit_code_137_without_memory_is_a_signal_only() -> None:
    preempted, exited = findings(load("pod-preempted.json"))
    assert exited.fields["signal"] == "SIGKILL"
    assert "higher priority" in str(preempted.fields["message"])


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("The node was low on resource: memory. Container a was using 9Gi, request is 1Gi", "evicted-memory"),
        ('Usage of EmptyDir volume "dshm" exceeds the limit "1Gi".', "evicted-storage"),
        ("Pod ephemeral local storage usage exceeds the total limit of containers 10Gi.", "evicted-storage"),
        ("The node was low on resource: pids.", "evicted-pids"),
        ("Pod was evicted by the API", "evicted"),
    ],
)
def test_evictions(message: str, rule: str) -> None:
    text = f"Status:           Failed\nReason:           Evicted\nMessage:          {message}\n"
    assert [f.rule_id for f in findings(text)] == [f"kubernetes.{rule}"]


def test_a_container_that_ended_well() -> None:
    text = load("describe-oom.txt").replace("OOMKilled", "Completed").replace("137", "0")
    text = text.replace(
        "State:          Waiting\n      Reason:       CrashLoopBackOff",
        "State:          Terminated\n      Reason:       Completed\n      Exit Code:    0",
    )
    found = [f.rule_id for f in findings(text)]
    assert "kubernetes.container-completed" in found
    assert "kubernetes.container-exited" not in found


def test_lost_indentation() -> None:
    flat = "\n".join(line.strip() for line in load("describe-oom.txt").splitlines())
    reading = READER.read(flat.encode(), Source("x"), 0)
    assert "kubernetes.container-oom-killed" in {f.rule_id for f in reading.findings}


def test_cut_json_is_noted() -> None:
    reading = READER.read(load("events.json").encode()[:200], Source("x"), 0)
    assert reading.notes and not reading.complete


def test_events_inside_a_log() -> None:
    log = "".join(f"2025-11-04 12:00:00 INFO step {i}: loss 2.1\n" for i in range(100))
    text = log + load("describe-evicted.txt") + log
    assert not READER.recognise("x", text.encode())
    assert "kubernetes.evicted-storage" in {f.rule_id for f in findings_in(text, Source("x"), 0)}
    assert findings_in(log, Source("x"), 0) == ()
