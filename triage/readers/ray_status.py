"""``ray status``: nodes, resources in use, and demands that wait for resources that are not there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.text import safe

KIND = "ray-status"

_TITLE = re.compile(r"=+ (?:Autoscaler|Cluster) status: ")
_SECTIONS = {
    "active": "active", "healthy": "active", "idle": "idle", "pending": "pending",
    "recent failures": "failures",
    "usage": "usage", "total usage": "usage", "demands": "demands", "total demands": "demands",
    "pending demands": "demands",
    "constraints": "constraints", "total constraints": "constraints", "node status": "", "resources": "",
    "from request_resources": "constraints",
}  # fmt: skip
_HEADING = re.compile(r"\s*(?P<name>[A-Z][\w ()]{3,30}?)(?:\(\))?:?\s*$")
_USAGE = re.compile(
    r"\s*(?P<used>[\d.]{1,20})(?:\w+)?/(?P<total>[\d.]{1,20})(?:\s?[KMGTP]?i?B)?\s+(?P<what>[\w:./-]{2,80})"
)
_NODES = re.compile(r"\s*(?P<count>\d{1,6}) (?P<kind>\S{1,100})\s*$")
_BUNDLE = re.compile(r"\{(?P<body>[^{}]{1,400})\}(?: \* (?P<times>\d{1,6}))?")
_RESOURCE = re.compile(r"'(?P<name>[^']{1,120})': (?P<amount>[\d.]{1,20})")
_TIMES = re.compile(r": (?P<count>\d{1,6})\+? (?P<what>pending [\w/ ]+|from request_resources)")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$|[0-9a-fA-F]*:[0-9a-fA-F:]+$")


@dataclass(frozen=True, slots=True)
class Demand:
    """One line of demands: what all its bundles add up to, and the node labels that it insists on."""

    resources: dict[str, float]
    labels: tuple[str, ...]
    what: str
    line: Line


@dataclass(slots=True)
class Status:
    """One status report; ``usage`` maps a resource to (used, total)."""

    line: Line
    nodes: dict[str, int] = field(default_factory=dict)
    usage: dict[str, tuple[float, float]] = field(default_factory=dict)
    demands: list[Demand] = field(default_factory=list)
    failures: list[Line] = field(default_factory=list)


class RayStatusReader:
    """Reads captures of ``ray status``."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a status report of a Ray cluster?"""
        return b" status: " in head and mostly(head, lambda t: bool(_TITLE.search(t)), _belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say which demands cannot be met and which nodes failed."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for status reports in a piece of a source; of several only the last one counts."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if _reports(lines) else ()


def _belongs(text: str) -> bool:
    return bool(
        _TITLE.search(text)
        or _HEADING.match(text)
        or _USAGE.match(text)
        or _NODES.match(text)
        or re.match(r"\s*(?:-{5,}|\(no |\{'|GCS request time|Node Provider|Node: |Id: |Activity)", text)
    )


def _reports(lines: Sequence[Line]) -> list[Status]:
    found: list[Status] = []
    section = ""
    for line in lines:
        text = line.text.rstrip()
        if _TITLE.search(text):
            found.append(Status(line))
            section = ""
            continue
        if not found:
            continue
        heading = _HEADING.match(text)
        name = heading["name"].strip().lower().removesuffix("()") if heading else ""
        if name in _SECTIONS:
            section = _SECTIONS[name]
            continue
        _take(found[-1], section, line, text)
    return found


def _take(status: Status, section: str, line: Line, text: str) -> None:
    if not text.strip() or text.strip().startswith("(no "):
        return
    if section in {"active", "idle", "pending"}:
        nodes = _NODES.match(text)
        if nodes:
            status.nodes[section] = status.nodes.get(section, 0) + int(nodes["count"])
    elif section == "usage":
        usage = _USAGE.match(text)
        if usage:
            pair = (_float(usage["used"]), _float(usage["total"]))
            status.usage.setdefault(usage["what"], pair)
    elif section == "demands" and "{" in text:
        if len(status.demands) < 200:
            status.demands.append(_demand(line, text))
    elif section == "failures" and len(status.failures) < 50:
        status.failures.append(line)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _demand(line: Line, text: str) -> Demand:
    times = _TIMES.search(text)
    copies = int(times["count"]) if times else 1
    total: dict[str, float] = {}
    labels: list[str] = []
    for bundle in _BUNDLE.finditer(text):
        factor = int(bundle["times"] or 1) * copies
        for resource in _RESOURCE.finditer(bundle["body"]):
            name = resource["name"]
            if name.startswith("node:"):
                labels.append(name[5:])
            else:
                total[name] = total.get(name, 0.0) + factor * _float(resource["amount"])
    what = times["what"] if times else "pending"
    return Demand(total, tuple(dict.fromkeys(labels)), what, line)


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    reports = _reports(lines)
    if not reports:
        found.note("no status of a Ray cluster could be read")
        found.complete = False
        return found.reading()
    status = reports[-1]
    used, total = status.usage.get("GPU", (0.0, 0.0))
    facts: dict[str, Value] = {
        "nodes": status.nodes.get("active", 0) + status.nodes.get("idle", 0),
        "pending_nodes": status.nodes.get("pending", 0),
        "gpus": total,
        "gpus_used": used,
        "demands": len(status.demands),
    }
    found.add("ray.status", [status.line], facts)
    for demand in status.demands:
        if demand.what.startswith("pending"):
            _unmet(found, status, demand)
    for line in status.failures:
        found.add("ray.status-node-failure", [line], {"failure": safe(line.text.strip(), 400)})
    return found.reading()


def _unmet(found: Findings, status: Status, demand: Demand) -> None:
    used, total = status.usage.get("GPU", (0.0, 0.0))
    wanted = demand.resources.get("GPU", 0.0)
    fields: dict[str, Value] = {
        "demand": safe(demand.line.text.strip(), 400),
        "wanted": wanted,
        "total": total,
        "free": max(0.0, total - used),
        "label": demand.labels[0] if demand.labels else None,
    }
    names = [label for label in demand.labels if not _ADDRESS.match(label)]
    if names:
        rule = "ray.node-label-is-a-name"
        fields["label"] = names[0]
    elif wanted > total:
        rule = "ray.demand-exceeds-cluster"
    elif wanted > total - used:
        rule = "ray.cluster-busy"
    elif demand.labels:
        rule = "ray.node-label-unknown"
    else:
        rule = "ray.demand-pending"
    found.add(rule, [status.line, demand.line], fields)
