from __future__ import annotations

from pathlib import Path

import pytest

from triage import diagnose
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


PADDING = (
    "unable to start container process: error during container init: error running prestart hook #0: "
    "exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'"
)
STARTLESS = """\
Name:             bench-0
Node:             gpu-33/10.1.2.33
Status:           Pending
Init Containers:
  probe:
    Image:         registry.local/probe:4
    State:       Waiting
      Reason:    CrashLoopBackOff
    Last State:  Terminated
      Reason:    StartError
      Message:   failed to create containerd task: OCI runtime create failed: runc create failed: {padding}
nvidia-container-cli: initialization error: nvml error: {cause}: unknown
      Exit Code:    128
      Started:      Thu, 01 Jan 1970 00:00:00 +0000
"""


def test_a_message_over_several_lines_is_read_and_shown_whole() -> None:
    found = findings(STARTLESS.format(cause="driver/library version mismatch", padding=PADDING))
    (gpu,) = [f for f in found if f.rule_id == "kubernetes.gpu-runtime"]
    assert "nvml error: driver/library" in str(gpu.fields["message"])
    assert gpu.fields["exit_code"] == 128
    for words in ("Reason:    StartError", "nvidia-container-cli: init", "Exit Code:    128"):
        assert words in gpu.evidence[0].text


@pytest.mark.parametrize(
    ("cause", "rule"),
    [
        ("driver/library version mismatch", "gpu.nvml-version-mismatch"),
        ("driver not loaded", "container.driver-not-loaded"),
        ("gpu is lost", "container.gpu-lost"),
    ],
)
def test_what_the_runtime_is_quoted_with_beats_the_state_that_quotes_it(
    tmp_path: Path, cause: str, rule: str
) -> None:
    (tmp_path / "describe.txt").write_text(STARTLESS.format(cause=cause, padding=PADDING))
    found = diagnose([tmp_path / "describe.txt"])
    assert found.root_cause is not None and found.root_cause.rule_id == rule


def test_the_end_of_a_container_is_shown_with_reason_code_and_message() -> None:
    killed = next(f for f in findings(load("describe-oom.txt")) if f.rule_id.endswith("oom-killed"))
    assert "Reason:" in killed.evidence[0].text and "Exit Code:" in killed.evidence[0].text


def test_an_evicted_pod_shows_the_lines_that_say_why() -> None:
    text = (
        "Name:             llm-head\nNamespace:        default\nNode:             n1/10.0.0.1\n"
        "Status:           Failed\nReason:           Evicted\n"
        "Message:          The node was low on resource: memory. Threshold quantity: 1Gi, available: 91045Ki.\n"
    )
    (evicted,) = findings(text)
    assert evicted.rule_id == "kubernetes.evicted-memory"
    shown = "\n".join(e.text for e in evicted.evidence)
    assert "Evicted" in shown
    assert "low on resource: memory" in shown


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        (
            "Warning  Unschedulable  12s (x40 over 9m)  volcano  2/2 tasks in gang unschedulable",
            "unschedulable",
        ),
        (
            "Warning  PodGroupPending  44s  vc-controller-manager  PodGroup default:a unschedule",
            "unschedulable",
        ),
        (
            "Warning  Pending  31s  kueue-admission  couldn't assign flavors to pod set main: x",
            "unschedulable",
        ),
        (
            "Normal  EvictedDueToPreempted  31s  kueue-admission  Preempted to accommodate a workload",
            "preempted",
        ),
        ("Normal  EvictedDueToNodeFailures  31s  kueue-admission  Workload was evicted", "node-lost"),
        ("Normal  EvictedDueToPodsReadyTimeout  31s  kueue-admission  Exceeded the timeout", "evicted"),
        ("Normal  Pending  31s  somebody  waits for a friend", None),
        ("Normal  Evict  31s  volcano  reclaim", "preempted"),
        ("Warning  MPIJobEvicted  31s  mpi-job-controller  1/4 workers are evicted", "evicted"),
    ],
)
def test_events_of_the_schedulers_of_groups(event: str, rule: str | None) -> None:
    found = findings_in(f"Events:\n  {event}\n", Source("x"), 0)
    assert [f.rule_id for f in found if f.rule_id != "kubernetes.pod"] == (
        [f"kubernetes.{rule}"] if rule else []
    )


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        ("Normal  BackOff  31s  kubelet  Back-off pulling image", "image-not-pulled"),
        ("Warning  ErrImageNeverPull  31s  kubelet  Container image is not present", "image-not-pulled"),
        ('Warning  Failed  31s  kubelet  Error: secret "hub" not found', "container-config"),
        (
            'Warning  FailedMount  31s  kubelet  MountVolume.SetUp failed for volume "c" : configmap "c" not found',
            "container-config",
        ),
        ("Warning  Failed  31s  kubelet  Error: context deadline exceeded", "container-not-started"),
        (
            'Warning  FailedCreatePodSandBox  31s  kubelet  failed to setup network for sandbox "1"',
            "sandbox-network",
        ),
        (
            'Warning  FailedCreatePodSandBox  31s  kubelet  no runtime for "nvidia" is configured',
            "gpu-runtime",
        ),
        ("Warning  FailedCreatePodSandBox  31s  kubelet  context deadline exceeded", "sandbox-failed"),
    ],
)
@pytest.mark.parametrize("status", ["Pending", "Running"])
def test_events_of_containers_that_do_not_start_count_until_the_pod_runs(
    event: str, rule: str, status: str
) -> None:
    found = findings(f"Name:   worker-0\nStatus:   {status}\nEvents:\n  Type  Reason\n  {event}\n")
    expected = [f"kubernetes.{rule}"] if status == "Pending" or rule == "gpu-runtime" else []
    assert [f.rule_id for f in found] == expected


@pytest.mark.parametrize(
    ("reason", "message", "rule"),
    [
        ("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed", "pod-rejected"),
        ("NodePorts", "Pod was rejected: Predicate NodePorts failed", "pod-rejected"),
        (
            "SysctlForbidden",
            'Pod was rejected: forbidden sysctl: "net.core.x" not allowlisted',
            "pod-forbidden",
        ),
        ("", "", "pod-failed"),
    ],
)
def test_a_failed_pod_without_an_ended_container_is_not_healthy(
    reason: str, message: str, rule: str, tmp_path: Path
) -> None:
    why = f"Reason:       {reason}\nMessage:      {message}\n" if reason else ""
    text = f"Name:         w-2\nNamespace:    ml\nNode:         gpu-7/10.0.0.7\nStatus:       Failed\n{why}"
    assert [f.rule_id for f in findings(text)] == [f"kubernetes.{rule}"]
    (tmp_path / "describe.txt").write_text(text)
    assert diagnose([tmp_path / "describe.txt"]).verdict == "failed"


@pytest.mark.parametrize(
    ("why", "rule"),
    [
        ("no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu", "gpu-not-allocated"),
        ("rpc error: code = Unavailable desc = transport is closing", "pod-rejected"),
    ],
)
def test_a_device_plugin_that_is_gone_says_nothing_of_the_device(why: str, rule: str) -> None:
    text = (
        "Name:         w-2\nNamespace:    ml\nNode:         gpu-7/10.0.0.7\nStatus:       Pending\nEvents:\n"
        "  Type     Reason                    Age  From     Message\n"
        "  ----     ------                    ---  ----     -------\n"
        f"  Warning  UnexpectedAdmissionError  73s  kubelet  Allocate failed due to {why}, which is unexpected\n"
    )
    assert f"kubernetes.{rule}" in [f.rule_id for f in findings(text)]


def test_the_volume_that_failed_is_shown_rather_than_the_summary_of_missing_volumes() -> None:
    text = (
        "Name:         w-2\nNamespace:    ml\nNode:         gpu-7/10.0.0.7\nStatus:       Pending\nEvents:\n"
        "  Type     Reason       Age   From     Message\n  ----     ------       ----  ----     -------\n"
        "  Warning  FailedMount  3m    kubelet  Unable to attach or mount volumes: unmounted volumes=[data], "
        "unattached volumes=[data]: timed out waiting for the condition\n"
        '  Warning  FailedMount  1m    kubelet  MountVolume.SetUp failed for volume "pv-data" : mount failed: exit status 32\n'
    )
    (mount,) = [f for f in findings(text) if f.rule_id == "kubernetes.volume-not-mounted"]
    assert "pv-data" in mount.evidence[0].text


def test_a_volume_that_came_late_is_there_once_the_containers_are_made() -> None:
    text = (
        "LAST SEEN   TYPE      REASON        OBJECT    MESSAGE\n"
        '51m         Warning   FailedMount   pod/w-0   MountVolume.SetUp failed for volume "cfg" : timed out waiting for the condition\n'
    )
    made = '48m         Normal    Pulling       pod/{}   Pulling image "acme/sft:3"\n'
    rule = "kubernetes.volume-not-mounted"
    assert rule in {f.rule_id for f in findings(text)}
    assert rule in {f.rule_id for f in findings(text + made.format("w-1"))}
    assert rule not in {f.rule_id for f in findings(text + made.format("w-0"))}


@pytest.mark.parametrize(
    ("since", "rules"),
    [
        ("30m         Normal    Started             pod/kiln-3      Started container trainer", []),
        ("55m         Normal    Started             pod/kiln-3      Started container trainer", ["image-not-pulled"]),
        ("30m         Normal    Started             pod/kiln-4      Started container trainer", ["image-not-pulled"]),
    ],
)  # fmt: skip
def test_a_pod_that_started_since_has_its_image(since: str, rules: list[str]) -> None:
    text = (
        "LAST SEEN   TYPE      REASON              OBJECT          MESSAGE\n"
        f"{since}\n"
        "31m         Warning   Failed              pod/kiln-3      Error: ErrImagePull\n"
    )
    told = [f.rule_id.removeprefix("kubernetes.") for f in findings(text)]
    assert [rule for rule in told if rule != "pod"] == rules


@pytest.mark.parametrize(
    ("loop", "rules"),
    [
        ("34m (x4 over 36m)   ", ["back-off-over"]),
        ("2m (x140 over 36m)  ", ["container-exited", "restart-loop"]),
    ],
)
def test_a_container_that_was_started_since_it_failed_runs(loop: str, rules: list[str]) -> None:
    text = f"""Name:             llm-worker-3
Namespace:        train
Status:           Running
Containers:
  pytorch:
    State:          Running
      Started:      Mon, 12 Jan 2026 08:09:40 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
    Ready:          True
    Restart Count:  2
Events:
  Type     Reason   Age                   From     Message
  ----     ------   ----                  ----     -------
  Warning  BackOff  {loop}  kubelet  Back-off restarting failed container pytorch in pod llm-worker-3_train(51c2)
  Normal   Started  33m (x3 over 37m)     kubelet  Started container pytorch
"""
    assert [f.rule_id.removeprefix("kubernetes.") for f in findings(text)] == rules
