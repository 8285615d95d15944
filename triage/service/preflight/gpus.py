"""GPUs of the node: what nvidia-smi says of them, of their links and of the paths between them."""

from __future__ import annotations

from collections.abc import Mapping

from triage.model import Finding, Reading, Source, Step
from triage.rules.schema import Rule
from triage.service.commands import Output, finish, run, start
from triage.service.preflight.judging import judge
from triage.service.preflight.model import Node

COMMAND_SECONDS = 15.0
"""Longest that one nvidia-smi may take; without persistence it loads the driver first."""


def check_gpus(node: Node, rules: Mapping[str, Rule]) -> tuple[bool, str]:
    """Look at all GPUs of the node: whether there are any, and what ``nvidia-smi -q`` printed."""
    limit = node.allow(COMMAND_SECONDS)
    commands = {
        "query": start(("nvidia-smi", "-q")),
        "topology": start(("nvidia-smi", "topo", "-m")),
        "links": start(("nvidia-smi", "nvlink", "--status")),
        "errors": start(("nvidia-smi", "nvlink", "-e")),
    }
    outputs = {
        name: finish(process, min(limit, node.allow(COMMAND_SECONDS))) for name, process in commands.items()
    }
    query = outputs["query"]
    if query.missing:
        return _without_tool(node, query), ""
    if query.problem is not None:
        _broken(node, query)
        return True, ""
    _state(node, query, rules)
    _topology(node, outputs["topology"], rules)
    _links(node, outputs["links"], outputs["errors"], rules)
    return True, query.text


def _without_tool(node: Node, query: Output) -> bool:
    devices = [name for name in node.listed("/dev") if name.startswith("nvidia") and name[6:].isdigit()]
    if not devices:
        node.add("gpus", "skip", "no NVIDIA GPU here: neither nvidia-smi nor a device file")
        return False
    node.add(
        "gpus",
        "warn",
        f"{len(devices)} GPU device file(s), but {query.problem}",
        Step(
            "Give the container the driver's tools",
            "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …",
            "nvidia-smi lists the GPUs",
        ),
    )
    node.facts["gpus"] = len(devices)
    return True


def _broken(node: Node, query: Output) -> None:
    if query.late:
        step = Step(
            "Look for a GPU that fell off the bus or a stuck driver, and drain the node",
            "dmesg -T | grep -iE 'NVRM|Xid' | tail",
            "nvidia-smi answers within a few seconds",
            "operator",
        )
    else:
        step = Step(
            "Load the driver, or make kernel module and libraries one version",
            "cat /proc/driver/nvidia/version; dmesg -T | grep -i nvrm | tail; modprobe nvidia",
            "nvidia-smi lists the GPUs",
            "operator",
        )
    node.add("gpus", "fail", query.problem or "nvidia-smi failed", step)


def _state(node: Node, query: Output, rules: Mapping[str, Rule]) -> None:
    from triage.readers.nvidia_smi import NvidiaSmiReader

    reading = NvidiaSmiReader().read(query.text.encode(), _source("nvidia-smi -q"), 0)
    for finding in reading.findings:
        if finding.rule_id == "gpu.smi-inventory":
            fields = finding.fields
            node.facts.update({k: fields[k] for k in ("gpus", "models") if k in fields})
            node.facts["gpu_memory_bytes"] = fields.get("memory_least")
        elif finding.rule_id == "gpu.smi-version":
            for name in ("driver", "cuda"):
                version = finding.fields.get(name)
                if isinstance(version, tuple):
                    node.facts[f"{name}_version"] = (
                        _driver(query.text) if name == "driver" else _dotted(version)
                    )
        elif finding.rule_id == "gpu.smi-memory-held":
            held = node.facts.setdefault("gpus_in_use", [])
            if isinstance(held, list):
                held.append(finding.gpu)
    count, models = node.facts.get("gpus", 0), node.facts.get("models", "unknown model")
    size = node.facts.get("gpu_memory_bytes")
    memory = f", {size / 2**30:.0f} GiB each" if isinstance(size, int) else ""
    good = f"{count} x {models}{memory}; no ECC error, remapping or slowdown reported"
    judge(node, "gpus", reading, rules, good)


def _driver(text: str) -> str | None:
    """The driver's version as printed: its zeros count (580.00.04)."""
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == "Driver Version":
            return value.strip()
    return None


def _dotted(version: tuple[object, ...]) -> str:
    return ".".join(str(part) for part in version)


def _topology(node: Node, output: Output, rules: Mapping[str, Rule]) -> None:
    from triage.readers.topology import TopologyReader
    from triage.readers.topology_model import find_matrices

    if output.problem is not None:
        node.add("topology", "warn", output.problem, _again("nvidia-smi topo -m"))
        return
    node.topology = _plain(output.text)
    topologies = find_matrices(node.topology)
    if not topologies:
        node.add(
            "topology",
            "warn",
            "nvidia-smi topo -m printed no matrix that can be read",
            _again("nvidia-smi topo -m"),
        )
        return
    # the model decides whether cards without NVLink are what they should be
    named = f"{node.topology}\nGPU 0: {node.facts.get('models', '')}\n"
    reading = TopologyReader().read(named.encode(), _source("nvidia-smi topo -m"), 0)
    facts = next((f.fields for f in reading.findings if f.rule_id == "topology.matrix"), {})
    node.facts["topology_design"] = facts.get("design")
    kinds = facts.get("kinds")
    node.facts["topology_kinds"] = list(kinds) if isinstance(kinds, tuple) else []
    good = f"{len(topologies[0].gpus)} GPU(s), {facts.get('design')}"
    if node.facts["topology_kinds"]:
        good += f": {', '.join(node.facts['topology_kinds'])} between them"
    judge(node, "topology", reading, rules, good)


def _plain(text: str) -> str:
    """The matrix without escape codes and without its legend's blank lines at the end."""
    from triage.text import sanitize

    return sanitize(text).rstrip() + "\n"


def _links(node: Node, status: Output, errors: Output, rules: Mapping[str, Rule]) -> None:
    from triage.readers.nvlink import NvlinkReader, find_links

    if status.problem is not None:
        node.add("nvlink", "warn", status.problem, _again("nvidia-smi nvlink --status"))
        return
    listed = [gpu for gpu in find_links(status.text) if gpu.listed]
    if not any(gpu.active for gpu in listed) and node.facts.get("topology_design") in {
        "pcie",
        "single",
        None,
    }:
        node.add("nvlink", "skip", "these GPUs have no NVLink in use")
        return
    active = [len(gpu.active) for gpu in listed]
    speeds = [speed for gpu in listed for speed in gpu.speeds.values() if speed > 0]
    if active and speeds:
        node.facts["nvlinks_per_gpu"] = min(active)
        node.facts["nvlink_gb_s"] = min(speeds)
    findings: list[Finding] = []
    for name, output in (("nvidia-smi nvlink --status", status), ("nvidia-smi nvlink -e", errors)):
        if output.problem is None:
            findings.extend(NvlinkReader().read(output.text.encode(), _source(name), 0).findings)
    good = f"{min(active, default=0)} links up on each GPU"
    if speeds:
        good += f", {min(speeds):g} GB/s each; no errors counted"
    judge(node, "nvlink", Reading("nvlink", tuple(findings)), rules, good)


def _source(name: str) -> Source:
    return Source(name, data=b"")


def _again(command: str) -> Step:
    return Step("Run it by hand and see why it fails", command, "it prints a result within a few seconds")


def probe(seconds: float) -> Output:
    """``nvidia-smi topo -m`` on its own, for a receipt at the start of a job."""
    return run(("nvidia-smi", "topo", "-m"), seconds)
