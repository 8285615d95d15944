"""Pods, their containers and events, from the JSON of ``kubectl … -o json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.readers.capture import Line, parsed_json

MAX_JSON = 32 << 20
MAX_ITEMS = 5_000


@dataclass(slots=True)
class End:
    """How a container ended, or why it does not start: ``exit_code`` is None while it waits."""

    reason: str | None = None
    exit_code: int | None = None
    message: str | None = None
    line: Line | None = None
    details: list[Line] = field(default_factory=list)
    """The lines of a text that give reason, exit code and message."""


@dataclass(slots=True)
class Container:
    """A container: its present state, the end of its previous life, and its limits as printed."""

    name: str
    state: str | None = None
    """running, waiting or terminated."""
    end: End = field(default_factory=End)
    last: End | None = None
    restarts: int = 0
    memory_limit: str | None = None
    gpus: int | None = None
    environment: dict[str, int] = field(default_factory=dict)
    """Its place in a job, as operators for training hand it over."""
    line: Line | None = None

    @property
    def rank(self) -> int | None:
        """Its rank, where it is a process of its own: beside several GPUs, RANK is the number of a node."""
        rank, size = self.environment.get("rank"), self.environment.get("world_size")
        if self.gpus not in {None, 1} or self.environment.get("pet_nproc_per_node", 1) != 1:
            return None
        return rank if rank is not None and size is not None and rank < size else None


@dataclass(slots=True)
class Event:
    """One event: ``warning`` is its type, ``about`` the object that it concerns."""

    reason: str
    message: str
    line: Line
    warning: bool = True
    about: str | None = None
    host: str | None = None
    age: int | None = None
    """Seconds since it was last seen, as far as that is told."""


@dataclass(slots=True)
class Pod:
    """A pod, as far as the text tells it."""

    name: str | None = None
    namespace: str | None = None
    node: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    line: Line | None = None
    details: list[Line] = field(default_factory=list)
    """The lines of a text that give the pod's own reason and message."""
    containers: list[Container] = field(default_factory=list)
    disruptions: list[End] = field(default_factory=list)
    """Conditions of type DisruptionTarget: who ended the pod, and why."""
    events: list[Event] = field(default_factory=list)

    @property
    def known(self) -> bool:
        """Does it hold anything?"""
        return bool(self.name or self.status or self.containers or self.events or self.disruptions)


def from_json(data: bytes, first: Line) -> tuple[list[Pod], str | None]:
    """The pods of a JSON document, and what is wrong with it (None when nothing is).

    Events without their pod are given to a pod of their own, by the object's name.
    """
    document, problem = parsed_json(data, MAX_JSON)
    if problem is not None:
        return [], problem
    pods: list[Pod] = []
    events: dict[str, Pod] = {}
    for item in _items(document):
        kind = item.get("kind")
        if kind == "Pod" or "containerStatuses" in _map(item.get("status")):
            pods.append(_pod(item, first))
        elif kind == "Event" or "involvedObject" in item or "regarding" in item:
            event = _event(item, first)
            pod = events.setdefault(event.about or "", Pod(name=event.about, line=first))
            pod.events.append(event)
    for pod in pods:
        own = events.pop(f"pod/{pod.name}", None)
        if own is not None:
            pod.events.extend(own.events)
    return [*pods, *events.values()], None


def _items(document: Any) -> Iterator[Mapping[str, Any]]:
    listed = _map(document).get("items")
    entries = listed if isinstance(listed, list) else document if isinstance(document, list) else [document]
    for entry in entries[:MAX_ITEMS]:
        if isinstance(entry, Mapping):
            yield entry


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _pod(item: Mapping[str, Any], first: Line) -> Pod:
    meta, spec, status = _map(item.get("metadata")), _map(item.get("spec")), _map(item.get("status"))
    pod = Pod(
        name=_text(meta.get("name")),
        namespace=_text(meta.get("namespace")),
        node=_text(spec.get("nodeName")),
        status=_text(status.get("phase")),
        reason=_text(status.get("reason")),
        message=_text(status.get("message")),
        line=first,
    )
    limits: dict[str, str | None] = {}
    for container in spec.get("containers") or []:
        limit = _map(_map(_map(container).get("resources")).get("limits")).get("memory")
        limits[str(_map(container).get("name"))] = _text(limit)
    for key in ("initContainerStatuses", "containerStatuses"):
        listed = status.get(key)
        for entry in (listed if isinstance(listed, list) else [])[:200]:
            pod.containers.append(_container(_map(entry), limits, first))
    conditions = status.get("conditions")
    for condition in (conditions if isinstance(conditions, list) else [])[:50]:
        add_condition(pod, _map(condition), first)
    return pod


def add_condition(pod: Pod, condition: Mapping[str, Any], line: Line) -> None:
    """Take a condition of the pod; only disruptions and refused scheduling matter."""
    if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
        pod.disruptions.append(
            End(_text(condition.get("reason")), None, _text(condition.get("message")), line)
        )
    elif condition.get("type") == "PodScheduled" and condition.get("status") == "False":
        message = _text(condition.get("message")) or ""
        pod.events.append(Event("FailedScheduling", message, line))


def _container(entry: Mapping[str, Any], limits: Mapping[str, str | None], first: Line) -> Container:
    name = str(entry.get("name", "?"))
    container = Container(name, line=first, memory_limit=limits.get(name))
    container.restarts = _int(entry.get("restartCount")) or 0
    for key in ("running", "waiting", "terminated"):
        state = _map(entry.get("state")).get(key)
        if isinstance(state, Mapping):
            container.state = key
            container.end = _end(state, first)
    last = _map(entry.get("lastState")).get("terminated")
    if isinstance(last, Mapping):
        container.last = _end(last, first)
    return container


def _end(state: Mapping[str, Any], line: Line) -> End:
    return End(_text(state.get("reason")), _int(state.get("exitCode")), _text(state.get("message")), line)


def _event(item: Mapping[str, Any], first: Line) -> Event:
    target = _map(item.get("involvedObject")) or _map(item.get("regarding"))
    name = _text(target.get("name"))
    about = f"{str(target.get('kind', 'pod')).lower()}/{name}" if name else None
    return Event(
        reason=_text(item.get("reason")) or "",
        message=_text(item.get("message")) or _text(item.get("note")) or "",
        line=first,
        warning=item.get("type") != "Normal",
        about=about,
        host=_text(_map(item.get("source")).get("host")),
    )
