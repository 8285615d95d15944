"""Pods and events of Kubernetes: why a container ended, why a pod was removed, why it never started."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers import kube_listing, kube_text
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.kube_model import Container, End, Event, Pod, from_json
from triage.text import safe
from triage.text.signals import SIGNALS

KIND = "kubernetes"

_LOW_ON = re.compile(r"low on resource: (?P<resource>[\w-]+)")
_DISK = re.compile(r"ephemeral|EmptyDir|local storage|inodes|DiskPressure", re.IGNORECASE)
_NO_PLUGIN = re.compile(
    r"code = Unavailable\b|endpoint \S+ has been stopped|can't allocate unregistered device"
)
"""How the kubelet says that the device plugin does not answer."""
_USING = re.compile(r"Container (?P<container>\S+) was using (?P<used>\w+)")
_GPU_RUNTIME = re.compile(
    r"nvidia-container|nvml error|CDI device|nvidia\.com/gpu|libnvidia|runtime (?:handler|for) \"nvidia",
    re.IGNORECASE,
)
_POD_NETWORK = re.compile(
    r"set ?up (?:pod )?network|network for (?:sandbox|pod)|plugin type=|\bcni\b", re.IGNORECASE
)
_NO_REFERENCE = re.compile(
    r"(?:configmap|secret) \"[^\"]+\" not found|couldn't find key|non-existent (?:config|secret) key"
)
_PULL = re.compile(r"[Ff]ailed to pull|ErrImagePull|ImagePullBackOff|pull access denied|manifest unknown")
_OTHER_NODES = frozenset(
    {"NodeNotReady", "NodeLost", "NodeShutdown", "Shutdown", "Terminated", "TaintManagerEviction",
     "DeletionByTaintManager", "TerminationByKubelet", "DeletionByPodGC"}
)  # fmt: skip
"""Reasons that say that the node, not the pod, went away."""
_PREEMPTED = frozenset(
    {"Preempting", "Preempted", "PreemptionByScheduler", "PreemptionByKubeScheduler", "Evict"}
)  # fmt: skip
# what the kubelet writes as the reason when it does not admit a pod (pkg/kubelet/lifecycle, pkg/kubelet/sysctl)
_UNFIT = frozenset(
    {"NodeAffinity", "NodeName", "NodePorts", "NodeUnschedulable", "TaintToleration",
     "SMTAlignmentError", "InvalidNodeInfo", "UnexpectedPredicateFailureType", "UnknownReason"}
)  # fmt: skip
_FORBIDDEN = frozenset(
    {"SysctlForbidden", "AppArmor", "PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch", "ProcMount",
     "InitContainerRestartPolicyForbidden", "SupplementalGroupsPolicyNotSupported"}
)  # fmt: skip
_QUEUE_EVICTED = "EvictedDueTo"
"""How Kueue's events about a workload that it takes back begin; the reason follows."""
_QUEUE_REASONS = {"Preempted": "kubernetes.preempted", "NodeFailures": "kubernetes.node-lost"}
_NOT_PLACED = frozenset({"FailedScheduling", "Unschedulable", "PodGroupPending"})
"""Reasons of the schedulers: Kubernetes' own and Volcano's, the latter of whole groups."""
_MADE = frozenset({"Pulling", "Pulled", "Created", "Started"})
_RUNS = frozenset({"Started"})
"""What the kubelet tells of containers on their way, and of those that run."""
_WAITING = {
    "CrashLoopBackOff": "kubernetes.restart-loop",
    "ImagePullBackOff": "kubernetes.image-not-pulled",
    "ErrImagePull": "kubernetes.image-not-pulled",
    "InvalidImageName": "kubernetes.image-not-pulled",
    "CreateContainerConfigError": "kubernetes.container-config",
    "CreateContainerError": "kubernetes.container-not-started",
    "RunContainerError": "kubernetes.container-not-started",
}


class KubernetesReader:
    """Reads ``kubectl describe``, ``kubectl get … -o json|yaml``, ``kubectl get events`` and lists of pods."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a description of pods or a list of events?"""
        if head.lstrip()[:1] in (b"{", b"["):
            marks = (
                b'"containerStatuses"',
                b'"involvedObject"',
                b'"PodList"',
                b'"kind": "Pod"',
                b'"kind":"Pod"',
            )
            return any(mark in head for mark in marks)
        return mostly(head, _begins, _belongs, top=20, share=0.7)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say how containers ended and who removed the pods."""
        lines = lines_of(data)
        found = Findings(source, index, KIND, host=prompt_host(lines))
        if data.lstrip()[:1] in (b"{", b"["):
            pods, problem = from_json(data, lines[0])
            if problem:
                found.note(problem)
                found.complete = False
        else:
            pods = [*kube_text.pods(lines), *kube_listing.pods(lines)]
        return _read(found, pods)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for event tables and lists of pods in a piece of a source."""
    lines = lines_of(text, line, offset)
    events = [x for x in lines if kube_text.EVENT.match(x.text) or kube_text.LISTED.match(x.text)]
    pods = [*kube_text.pods(events), *kube_listing.pods(lines)]
    return _read(Findings(source, index, KIND), pods).findings if pods else ()


def _begins(text: str) -> bool:
    return bool(
        re.match(r"\s*(?:Name|Namespace|Node|Containers|Init Containers):", text)
        or re.match(r"(?:apiVersion: v1|kind: Pod|Status:\s+[A-Z]\w+)\s*$", text)
        or re.match(r"\s*(?:Last State|State):\s+(?:Terminated|Waiting|Running)\s*$", text)
        or kube_text.EVENTS_HEADER.match(text)
        or kube_text.EVENT.match(text)
        or kube_text.LISTED.match(text)
    )


def _belongs(text: str) -> bool:
    return bool(
        _begins(text)
        or re.match(r"\s*(?:- )?[A-Za-z][\w ./-]{1,60}:(?:\s+\S.*)?$", text)
        or re.match(r"\s*(?:Type\s+(?:Status|Reason)|----)", text)
        or re.match(r"\s{2,}[A-Za-z]\w+\s+(?:True|False)\s*$", text)
        or re.match(r"\s{4,}\S", text)
    )


def _read(found: Findings, pods: Sequence[Pod]) -> Reading:
    if not pods:
        found.note("no pod or event could be read")
        found.complete = False
    for pod in pods:
        _pod(found, pod)
    return found.reading()


def _add(
    found: Findings, rule_id: str, pod: Pod, lines: Sequence[Line | None], message: str | None, **more: Value
) -> None:
    known = sorted({line.number: line for line in lines if line is not None}.items())
    fields: dict[str, Value] = {
        "pod": pod.name.removeprefix("pod/") if pod.name else None,
        "node": pod.node,
        "message": safe(message, 1024) if message else None,
        **more,
    }
    found.add(rule_id, [line for _, line in known], fields, host=pod.node)


def _pod(found: Findings, pod: Pod) -> None:
    facts: dict[str, Value] = {
        "status": pod.status,
        "reason": pod.reason,
        "containers": len(pod.containers),
        "restarts": max((c.restarts for c in pod.containers), default=None),
        "pod_rank": next((c.rank for c in pod.containers if c.rank is not None), None),
    }
    _add(found, "kubernetes.pod", pod, [pod.line], None, **facts)
    removed = list(_removals(pod))
    for rule_id, lines, message, more in removed:
        _add(found, rule_id, pod, lines, message, **more)
    for container in pod.containers:
        _container(found, pod, container)
    if pod.status == "Failed" and not removed:
        _failed(found, pod)
    seen = {rule_id for rule_id, *_ in removed}
    # the kubelet's summary of volumes that are missing says less than what it says of each of them
    for event in sorted(pod.events, key=lambda e: e.message.startswith("Unable to attach or mount volumes")):
        _event(found, pod, event, seen)


def _failed(found: Findings, pod: Pod) -> None:
    """A pod whose phase is Failed although nothing took it away: the node refused it, or a container failed."""
    if any(end is not None and end.exit_code for c in pod.containers for end in (c.end, c.last)):
        return
    lines: list[Line | None] = [*pod.details] or [pod.line]
    if pod.reason in _FORBIDDEN:
        rule_id = "kubernetes.pod-forbidden"
    elif pod.reason in _UNFIT or (pod.message or "").startswith("Pod was rejected"):
        rule_id = "kubernetes.pod-rejected"
    else:
        rule_id = "kubernetes.pod-failed"
    _add(found, rule_id, pod, lines, pod.message, reason=pod.reason)


def _removals(pod: Pod) -> Iterator[tuple[str, list[Line | None], str | None, dict[str, Value]]]:
    """Who took the pod away: its own status first, then its conditions, then events that say so."""
    given: set[str] = set()
    reasons: list[tuple[str, str | None, list[Line | None]]] = []
    if pod.reason:
        reasons.append((pod.reason, pod.message, [*pod.details] or [pod.line]))
    reasons += [(end.reason or "", end.message, [end.line]) for end in pod.disruptions]
    reasons += [(event.reason, event.message, [event.line]) for event in pod.events]
    for reason, message, lines in reasons:
        rule_id = _removal_rule(reason, message or "")
        if rule_id is not None and rule_id not in given:
            given.add(rule_id)
            using = _USING.search(message or "")
            more: dict[str, Value] = {"reason": reason}
            if using:
                more.update(container=using["container"], used=using["used"])
            yield rule_id, lines, message, more


def _removal_rule(reason: str, message: str) -> str | None:
    if reason in {"Evicted", "EvictionByEvictionAPI", "EvictionThresholdMet", "MPIJobEvicted"}:
        low = _LOW_ON.search(message)
        resource = low["resource"] if low else ""
        if resource == "memory":
            return "kubernetes.evicted-memory"
        if resource in {"pids", "pid"}:
            return "kubernetes.evicted-pids"
        if _DISK.search(message) or resource:
            return "kubernetes.evicted-storage"
        return "kubernetes.evicted"
    if reason in _PREEMPTED:
        return "kubernetes.preempted"
    if reason.startswith(_QUEUE_EVICTED):
        return _QUEUE_REASONS.get(reason.removeprefix(_QUEUE_EVICTED), "kubernetes.evicted")
    if reason in _OTHER_NODES or "imminent node shutdown" in message:
        return "kubernetes.node-lost"
    if reason == "DeadlineExceeded":
        return "kubernetes.deadline"
    if reason == "UnexpectedAdmissionError":
        # who is asked for the device is gone; of the device itself that says nothing
        return "kubernetes.pod-rejected" if _NO_PLUGIN.search(message) else "kubernetes.gpu-not-allocated"
    return None


def _container(found: Findings, pod: Pod, container: Container) -> None:
    more: dict[str, Value] = {
        "container": container.name,
        "restarts": container.restarts,
        "memory_limit": container.memory_limit,
    }
    waiting = _WAITING.get(container.end.reason or "")
    if waiting and _GPU_RUNTIME.search(container.end.message or ""):
        waiting = "kubernetes.gpu-runtime"
    if waiting:
        lines = [container.line, container.end.line, *container.end.details]
        _add(found, waiting, pod, lines, container.end.message,
             reason=container.end.reason, **more)  # fmt: skip
    for end in (container.end, None if _settled(pod, container) else container.last):
        if end is not None and (end.exit_code is not None or end.reason == "OOMKilled"):
            _ended(found, pod, container, end, more)


def _ended(found: Findings, pod: Pod, container: Container, end: End, more: dict[str, Value]) -> None:
    lines: list[Line | None] = [container.line, end.line, *end.details]
    code = end.exit_code
    fields: dict[str, Value] = {"reason": end.reason, "exit_code": code, **more}
    if end.reason == "OOMKilled":
        _add(found, "kubernetes.container-oom-killed", pod, lines, end.message, **fields)
    elif end.reason in {"ContainerCannotRun", "StartError"}:
        gpu = _GPU_RUNTIME.search(end.message or "")
        rule = "kubernetes.gpu-runtime" if gpu else "kubernetes.container-not-started"
        _add(found, rule, pod, lines, end.message, **fields)
    elif code == 0:
        if all(other.end.exit_code == 0 for other in pod.containers):
            _add(found, "kubernetes.container-completed", pod, lines, None, **fields)
    elif code is not None:
        signal = SIGNALS.get(code - 128) if code > 128 else None
        _add(found, "kubernetes.container-exited", pod, lines, end.message, signal=signal, **fields)


def _event(found: Findings, pod: Pod, event: Event, seen: set[str]) -> None:
    rule_id = _event_rule(pod, event)
    if rule_id is None or rule_id in seen:
        return
    seen.add(rule_id)
    _add(found, rule_id, pod, [event.line], event.message, reason=event.reason)


def _made_since(pod: Pod, event: Event, reasons: frozenset[str] = _MADE) -> bool:
    """Whether images were pulled or containers made since an event: both are done when all volumes are there."""
    at = pod.events.index(event)
    return any(
        e.reason in reasons and not e.warning
        and (e.age < event.age if e.age is not None and event.age not in {None, e.age} else place > at)
        for place, e in enumerate(pod.events)
    )  # fmt: skip


def _settled(pod: Pod, container: Container) -> bool:
    """Whether a container runs, and was started once more after all that is told of its failing: it failed for a while only."""
    loops = [e for e in pod.events if e.reason == "BackOff" and "restarting failed container" in e.message]
    return (
        container.state == "running"
        and container.last is not None
        and container.last.reason == "Error"
        and bool(loops)
        and all(_made_since(pod, e, _RUNS) for e in loops)
    )


def _event_rule(pod: Pod, event: Event) -> str | None:
    reason, message = event.reason, event.message
    running = (
        pod.status in {"Running", "Succeeded"}
        or any(c.state == "running" for c in pod.containers)
        or _made_since(pod, event, _RUNS)
    )
    if reason in {"OOMKilling", "SystemOOM"}:
        return "kubernetes.node-oom"
    if reason in {"Failed", "FailedCreatePodSandBox", "FailedCreatePodSandbox"} and _GPU_RUNTIME.search(
        message
    ):
        return "kubernetes.gpu-runtime"
    if (reason == "Failed" and _PULL.search(message)) or reason in {"ErrImageNeverPull", "InspectFailed"}:
        return None if running else "kubernetes.image-not-pulled"
    if reason == "BackOff" and message.startswith("Back-off pulling image"):
        return None if running else "kubernetes.image-not-pulled"
    if reason in {"Failed", "FailedMount"} and _NO_REFERENCE.search(message):
        return None if running else "kubernetes.container-config"
    if reason == "Failed" and message.startswith("Error: ") and " " in message[7:]:
        return None if running else "kubernetes.container-not-started"
    if reason in _NOT_PLACED or (reason == "Pending" and "couldn't assign flavors" in message):
        started = running or any(e.reason in {"Scheduled", "Started"} for e in pod.events)
        return None if started else "kubernetes.unschedulable"
    if reason in {"FailedMount", "FailedAttachVolume"}:
        return None if running or _made_since(pod, event) else "kubernetes.volume-not-mounted"
    if reason in {"FailedCreatePodSandBox", "FailedCreatePodSandbox"}:
        rule_id = (
            "kubernetes.sandbox-network" if _POD_NETWORK.search(message) else "kubernetes.sandbox-failed"
        )
        return None if running else rule_id
    if reason == "Unhealthy" and message.startswith("Liveness"):
        return "kubernetes.liveness-failed"
    if reason == "Killing" and "liveness probe" in message:
        return "kubernetes.liveness-failed"
    if reason == "BackOff" and "restarting failed container" in message:
        if pod.containers and all(_settled(pod, c) or c.end.exit_code == 0 for c in pod.containers):
            return "kubernetes.back-off-over"
        return "kubernetes.restart-loop"
    return None
