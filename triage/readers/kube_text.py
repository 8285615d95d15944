"""``kubectl describe pod``, ``kubectl get pod -o yaml`` and ``kubectl get events`` as text.

The walk goes by words and order, since pasted output has often lost its indentation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.readers.capture import Line
from triage.readers.kube_model import Container, End, Event, Pod

_AGE = r"(?:<unknown>|<invalid>|\d[\dhmsdy]*(?: \(x\d+ over [\dhmsdy]+\))?)"
EVENT = re.compile(
    rf"\s*(?P<type>Normal|Warning)\s+(?P<reason>[A-Z]\w{{2,60}})\s+(?P<age>{_AGE})"
    r"\s+(?P<who>\S+(?:, \S+)?)\s+(?P<message>\S.*)$"
)
LISTED = re.compile(
    rf"\s*(?:\S{{1,63}}\s+)?(?P<age>{_AGE})\s+(?P<type>Normal|Warning)\s+(?P<reason>[A-Z]\w{{2,60}})\s+(?P<about>[a-z]+/\S+)"
    r"\s+(?P<message>\S.*)$"
)
EVENTS_HEADER = re.compile(r"\s*(?:NAMESPACE\s+)?LAST SEEN\s+TYPE\s+REASON\s+OBJECT")
_PAIR = re.compile(r"(?P<indent>\s*)(?:- )?(?P<key>[A-Za-z][\w /-]{1,40}?):(?:\s+(?P<value>\S.*?))?\s*$")
_CONDITION = re.compile(r"\s*DisruptionTarget\s+True\s*(?P<reason>\w+)?")
_SECTIONS = {
    "containers": True, "init containers": True, "containerstatuses": True, "initcontainerstatuses": True,
    "conditions": False, "volumes": False, "events": False, "tolerations": False, "qosclass": False,
    "qos class": False, "node-selectors": False,
}  # fmt: skip
_NOT_NAMES = frozenset(
    {"state", "last state", "laststate", "limits", "requests", "environment", "mounts", "args", "command",
     "ports", "terminated", "waiting", "running", "devices", "labels", "annotations", "resources"}
)  # fmt: skip
"""Headings inside a container's block that are no container's name."""
_AFTER_MESSAGE = frozenset(
    {"reason", "exit code", "exitcode", "signal", "started", "finished", "startedat", "finishedat", "ready",
     "restart count", "restartcount", "container id", "containerid", "image", "imageid", "name",
     *_NOT_NAMES, *_SECTIONS}
)  # fmt: skip
"""Keys that may stand behind the message of a container's end, which may run over several lines."""
_PLACE = frozenset({"rank", "world_size", "pet_nproc_per_node"})
"""Environment variables that tell which part of a job a container is."""
_GPUS = re.compile(r"\s*nvidia\.com/gpu:\s+(\d{1,3})\s*$")
MAX_MESSAGE_LINES = 40


class Walk:
    """Takes lines one by one and builds pods."""

    def __init__(self) -> None:
        self.pods: list[Pod] = []
        self.in_containers = False
        self.container: Container | None = None
        self.target: End | None = None
        self.limits = False
        self.message: End | None = None
        """Whose message goes on until a known key follows."""
        self.message_lines = 0

    @property
    def pod(self) -> Pod:
        """The pod that lines belong to at the moment."""
        if not self.pods:
            self.pods.append(Pod())
        return self.pods[-1]

    def take(self, line: Line) -> None:
        """Take one line."""
        if self._event(line) or self._disruption(line):
            return
        gpus = _GPUS.match(line.text)
        if gpus is not None and self.container is not None:
            self.container.gpus = int(gpus[1])
        match = _PAIR.match(line.text)
        if self._continues(match["key"].strip().lower() if match else None, line) or match is None:
            return
        key, value = match["key"].strip().lower(), match["value"]
        if key in _SECTIONS:
            self.in_containers = _SECTIONS[key]
            self.container, self.target = None, None
            return
        if value is None:
            self._heading(key, match["key"].strip(), line)
        elif self.in_containers:
            self._of_container(key, value, line)
        else:
            self._of_pod(key, value, line)

    def _continues(self, key: str | None, line: Line) -> bool:
        """Take a further line of a message: what a runtime said is quoted with its line breaks."""
        end = self.message
        if end is None:
            return False
        if key in _AFTER_MESSAGE or not line.text.strip() or self.message_lines >= MAX_MESSAGE_LINES:
            self.message = None
            return False
        self.message_lines += 1
        end.message = f"{end.message}\n{line.text.strip()}"
        end.details.append(line)
        return True

    def _event(self, line: Line) -> bool:
        listed = LISTED.match(line.text)
        if listed:
            event = Event(
                listed["reason"], listed["message"], line, listed["type"] == "Warning", listed["about"],
                age=_seconds(listed["age"]),
            )  # fmt: skip
            for pod in self.pods:
                if pod.name == listed["about"]:
                    pod.events.append(event)
                    return True
            self.pods.append(Pod(name=listed["about"], line=line, events=[event]))
            return True
        match = EVENT.match(line.text)
        if match is None:
            return False
        host = match["who"].partition(", ")[2] or None
        about = match["reason"], match["message"], line, match["type"] == "Warning", None, host
        self.pod.events.append(Event(*about, _seconds(match["age"])))
        return True

    def _disruption(self, line: Line) -> bool:
        match = _CONDITION.match(line.text)
        if match:
            self.pod.disruptions.append(End(match["reason"], None, None, line))
        return match is not None

    def _heading(self, key: str, name: str, line: Line) -> None:
        self.limits = key == "limits"
        if key in {"state", "last state", "laststate"}:
            self._state(key, "", line)
        elif key in {"terminated", "waiting", "running"}:
            if self.container is not None and self.target is self.container.end:
                self.container.state = key
            if self.target is not None:
                self.target.line = line
        elif self.in_containers and key not in _NOT_NAMES and " " not in key:
            self._container(name, line)

    def _container(self, name: str, line: Line) -> None:
        self.container = Container(name, line=line)
        self.target = None
        self.pod.containers.append(self.container)

    def _state(self, key: str, value: str, line: Line) -> None:
        if self.container is None:
            self._container("?", line)
        container = self.container
        if container is None:
            return
        if key == "state":
            container.state = value.lower() or None
            container.end.line = line
            self.target = container.end
        else:
            container.last = End(line=line)
            self.target = container.last

    def _of_container(self, key: str, value: str, line: Line) -> None:
        if key == "name" and self.container is not None and self.container.name == "?":
            self.container.name = value
        elif key in {"state", "last state"}:
            self._state(key, value, line)
        elif key in {"restart count", "restartcount"} and self.container is not None:
            self.container.restarts = int(value) if value.isdigit() and len(value) < 9 else 0
        elif key == "memory" and self.limits and self.container is not None:
            self.container.memory_limit = value
        elif key in _PLACE and self.container is not None and value.isdigit() and len(value) < 7:
            self.container.environment[key] = int(value)
        elif self.target is not None:
            _fill(self.target, key, value, line)
            if key == "message":
                self.message, self.message_lines = self.target, 0
        elif key == "phase":
            self._of_pod(key, value, line)

    def _of_pod(self, key: str, value: str, line: Line) -> None:
        if key == "name":
            if self.pod.name is not None and self.pod.known:
                self.pods.append(Pod())
            self.pod.name, self.pod.line = value, line
        elif key == "namespace":
            self.pod.namespace = value
        elif key in {"node", "nodename"}:
            self.pod.node = value.partition("/")[0] if value != "<none>" else None
        elif key in {"status", "phase"}:
            self.pod.status, self.pod.line = value, line
        elif key in {"state", "last state"}:  # a container's, pasted without its heading
            self._state(key, value, line)
            self.in_containers = True
        elif key == "reason" and self.pod.reason is None:
            self.pod.reason = value
            self.pod.details.append(line)
        elif key == "message" and self.pod.message is None:
            self.pod.message = value
            self.pod.details.append(line)


_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def _seconds(age: str) -> int | None:
    """The seconds of ``2d3h`` or ``5m (x3 over 10m)``: when it was last seen."""
    parts = re.findall(r"(\d{1,6})([dhms])", age.partition(" ")[0])
    return sum(int(number) * _UNITS[unit] for number, unit in parts) if parts else None


def _fill(end: End, key: str, value: str, line: Line) -> None:
    if key == "reason":
        end.reason = value
    elif key in {"exit code", "exitcode"} and value.lstrip("-").isdigit() and len(value) < 9:
        end.exit_code = int(value)
    elif key == "message":
        end.message = value
    if key in {"reason", "exit code", "exitcode", "message", "signal"}:
        end.details.append(line)
    if end.line is None:
        end.line = line


def pods(lines: Sequence[Line]) -> list[Pod]:
    """The pods that ``lines`` describe."""
    walk = Walk()
    for line in lines:
        walk.take(line)
    return [pod for pod in walk.pods if pod.known]
