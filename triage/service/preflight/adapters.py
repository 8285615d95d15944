"""RDMA adapters of the node: ports and GIDs, as the kernel states them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triage.model import Source, Step
from triage.rules.schema import Rule
from triage.service.preflight.judging import judge
from triage.service.preflight.model import Node

BASE = "/sys/class/infiniband"
MAX_GIDS = 64


def check_adapters(node: Node, rules: Mapping[str, Rule]) -> bool:
    """Look at every port; whether there are any."""
    from triage.readers.infiniband import InfinibandReader, find_ports

    devices = node.listed(BASE)
    node.facts["rdma_devices"] = len(devices)
    text = "".join(
        _port(node, device, port) for device in devices for port in node.listed(f"{BASE}/{device}/ports")
    )
    if not text:
        node.add("rdma", "skip", "no RDMA adapter here")
        return False
    ports = find_ports(text)
    active = [port for port in ports if port.state == "active"]
    rates = sorted({f"{port.rate:g} Gb/s" for port in active if port.rate})
    good = f"{len(active)} of {len(ports)} port(s) active" + (f" at {', '.join(rates)}" if rates else "")
    reading = InfinibandReader().read(text.encode(), Source(BASE, data=b""), 0)
    judge(node, "rdma", reading, rules, good)
    _gids(node, devices)
    return True


def _port(node: Node, device: str, port: str) -> str:
    """A port in the words of ``ibstatus``."""
    base = f"{BASE}/{device}/ports/{port}"
    values = {
        "state": node.read(f"{base}/state"),
        "phys state": node.read(f"{base}/phys_state"),
        "rate": node.read(f"{base}/rate"),
        "link_layer": node.read(f"{base}/link_layer"),
        "sm lid": node.read(f"{base}/sm_lid"),
    }
    if values["state"] is None:
        return ""
    lines = [f"\t{name}:\t\t {value}" for name, value in values.items() if value]
    return f"Infiniband device '{device}' port {port} status:\n" + "\n".join(lines) + "\n\n"


def _gids(node: Node, devices: list[str]) -> None:
    """RoCE ports need a version 2 GID that carries an address."""
    without: list[str] = []
    seen = 0
    for device in devices:
        for port in node.listed(f"{BASE}/{device}/ports"):
            base = f"{BASE}/{device}/ports/{port}"
            ethernet = (node.read(f"{base}/link_layer") or "").lower().startswith("eth")
            active = "ACTIVE" in (node.read(f"{base}/state") or "")
            if not ethernet or not active:
                continue
            seen += 1
            if not any(_routable(gid) for gid in _version_two(node, base)):
                without.append(f"{device}/{port}")
    if without:
        node.add(
            "gids",
            "warn",
            f"no RoCE v2 GID with an address on {', '.join(without[:8])}",
            Step(
                "Give the port's network interface an address",
                "ip -br addr; rdma link",
                "show_gids lists a v2 entry with an IPv4 address",
            ),
            Step(
                "Name the GID that all nodes have, when there are several",
                "export NCCL_IB_GID_INDEX=3",
                "the index is RoCE v2 on every node",
                "user",
            ),
        )
    elif seen:
        node.add("gids", "pass", f"a RoCE v2 GID with an address on {seen} port(s)")


def _version_two(node: Node, base: str) -> Iterator[str]:
    for index in node.listed(f"{base}/gids")[:MAX_GIDS]:
        if "v2" in (node.read(f"{base}/gid_attrs/types/{index}") or ""):
            yield node.read(f"{base}/gids/{index}") or ""


def _routable(gid: str) -> bool:
    return gid.startswith("0000:0000:0000:0000:0000:ffff:") or (
        bool(gid) and not gid.startswith("fe80:") and gid.strip("0:") != ""
    )
