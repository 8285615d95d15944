"""Ports of RDMA adapters as the tools list them: ``ibstat``, ``ibstatus``, ``ibv_devinfo``, ``perfquery`` …

The parsers go by words, not by indentation: pasted output has often lost it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from triage.readers.capture import Line

MAX_PORTS = 512

_CA = re.compile(r"(?:^|\s)CA '(?P<device>[\w.-]+)'\s*$")
_HCA = re.compile(r"(?:^|\s)hca_id:\s*(?P<device>[\w.-]+)")
_STATUS = re.compile(r"(?:^|\s)Infiniband device '(?P<device>[\w.-]+)' port (?P<port>\d{1,2}) status:")
_PORT = re.compile(r"(?:^|\s)[Pp]ort:?\s+(?P<port>\d{1,2}):?\s*$")
_PAIR = re.compile(r"\s*(?P<key>[A-Za-z][\w ]{1,30}?)\s*:\s*(?P<value>\S.*?)\s*$")
_PERF = re.compile(r"# Port (?:extended )?counters: Lid (?P<lid>\d+) port (?P<port>\d{1,3})")
_COUNT = re.compile(r"\s*(?P<name>[A-Z][A-Za-z0-9]{4,40}):\.*\s*(?P<count>\d{1,20})\s*$")
_SYSFS = re.compile(
    r"infiniband/(?P<device>[\w.-]+)/ports/(?P<port>\d{1,2})/(?:hw_)?counters/"
    r"(?P<name>\w{3,40}):\s*(?P<count>\d{1,20})"
)
_NETDEV = re.compile(
    r"(?:^|\s)(?P<device>[\w.-]+) port (?P<port>\d{1,2}) ==> (?P<netdev>\S+) \((?P<state>Up|Down)\)"
)
_RDMA = re.compile(
    r"(?:^|\s)link (?P<device>[\w.-]+)/(?P<port>\d{1,2}) "
    r"(?:subnet_prefix \S+ |lid \d+ |sm_lid \d+ |lmc \d+ )*"
    r"state (?P<state>\w+) physical_state (?P<phys>\w+)(?: netdev (?P<netdev>\S+))?"
)
_GID = re.compile(
    r"(?P<device>[\w.-]+)\s+(?P<port>\d{1,2})\s+(?P<index>\d{1,3})\s+"
    r"(?P<gid>(?:[0-9a-f]{4}:){7}[0-9a-f]{4})"
    r"(?:\s+(?P<ip>\d{1,3}(?:\.\d{1,3}){3}))?\s+v(?P<version>[12])(?:\s+(?P<netdev>\S+))?"
)
_KEYS = {
    "state": "state", "physical state": "phys", "phys state": "phys", "phys_state": "phys", "rate": "rate",
    "link layer": "layer", "link_layer": "layer", "sm lid": "sm_lid", "sm_lid": "sm_lid",
    "base lid": "lid", "port_lid": "lid", "ca type": "type", "active_mtu": "mtu", "max_mtu": "max_mtu",
    "firmware version": "firmware", "fw_ver": "firmware",
    "number of ports": "ports", "phys_port_cnt": "ports",
    "vendor_part_id": "type", "board_id": "board", "active_width": "width", "active_speed": "speed",
}  # fmt: skip
_DEVICE_KEYS = frozenset({"type", "firmware", "ports", "board"})


@dataclass(frozen=True, slots=True)
class Gid:
    """One entry of a port's GID table. ``version`` 2 is RoCE v2; ``ip`` is its IPv4 address, if any."""

    index: int
    version: int
    ip: str | None
    line: Line


@dataclass(slots=True)
class Port:
    """One port: its values under common names (``state``, ``phys``, ``rate``, ``layer``, ``sm_lid`` …)."""

    device: str
    number: int
    line: Line
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)
    counters: dict[str, tuple[int, Line]] = field(default_factory=dict)
    gids: list[Gid] = field(default_factory=list)
    netdev: str | None = None

    @property
    def label(self) -> str:
        """How texts call it: ``mlx5_0/1``."""
        return f"{self.device}/{self.number}"

    @property
    def state(self) -> str | None:
        """active, down, init, armed …, whatever the tool's spelling."""
        return _word(self.values.get("state"), r"(?:PORT_)?([A-Za-z]+)")

    @property
    def phys(self) -> str | None:
        """linkup, polling, disabled …, whatever the tool's spelling."""
        word = _word(self.values.get("phys"), r"([A-Za-z_ ]+)")
        return word.replace("_", "").replace(" ", "") if word else None

    @property
    def rate(self) -> float | None:
        """Rate in Gb/s."""
        match = re.match(r"([\d.]{1,10})", self.values.get("rate", ""))
        try:
            return float(match[1]) if match else None
        except ValueError:
            return None

    @property
    def ethernet(self) -> bool:
        """Is it an Ethernet (RoCE) port?"""
        return self.values.get("layer", "").lower().startswith("eth")


def _word(text: str | None, pattern: str) -> str | None:
    if text is None:
        return None
    match = re.match(r"(?:\d+:\s*)?" + pattern, text)
    return match[1].lower().removesuffix("_") if match else None


@dataclass(slots=True)
class _Walk:
    """Where the parser stands: the device, its own values, and the port that values go to."""

    ports: dict[tuple[str, int], Port] = field(default_factory=dict)
    device: tuple[str, Line] | None = None
    shared: dict[str, str] = field(default_factory=dict)
    port: Port | None = None

    def at(self, device: str, number: int, line: Line) -> Port:
        key = (device, number)
        if key not in self.ports and len(self.ports) < MAX_PORTS:
            self.ports[key] = Port(device, number, line)
        return self.ports.get(key) or Port(device, number, line)


def ports(lines: Sequence[Line]) -> list[Port]:
    """All ports that ``lines`` describe, each once, in order of appearance."""
    walk = _Walk()
    for line in lines:
        for take in _TAKERS:
            if take(walk, line):
                break
    return [p for p in walk.ports.values() if p.values or p.counters or p.gids]


def _take_device(walk: _Walk, line: Line) -> bool:
    match = _CA.search(line.text) or _HCA.search(line.text)
    if match is None:
        return False
    walk.device, walk.shared, walk.port = (match["device"], line), {}, None
    return True


def _take_status(walk: _Walk, line: Line) -> bool:
    match = _STATUS.search(line.text)
    if match is None:
        return False
    walk.device, walk.shared = (match["device"], line), {}
    walk.port = walk.at(match["device"], int(match["port"]), line)
    return True


def _take_port(walk: _Walk, line: Line) -> bool:
    match = _PORT.search(line.text)
    if match is None or walk.device is None:
        return False
    walk.port = walk.at(walk.device[0], int(match["port"]), walk.device[1])
    walk.port.lines.setdefault("port", line)
    for key, value in walk.shared.items():
        walk.port.values.setdefault(key, value)
    return True


def _take_counters(walk: _Walk, line: Line) -> bool:
    header = _PERF.search(line.text)
    if header:
        walk.port = walk.at(f"lid {header['lid']}", int(header["port"]), line)
        walk.device = None
        return True
    sysfs = _SYSFS.search(line.text)
    if sysfs:
        port = walk.at(sysfs["device"], int(sysfs["port"]), line)
        port.counters[_canonical(sysfs["name"])] = (int(sysfs["count"]), line)
        return True
    count = _COUNT.match(line.text)
    if count and walk.port is not None and walk.device is None:
        walk.port.counters[_canonical(count["name"])] = (int(count["count"]), line)
        return True
    return False


def _canonical(name: str) -> str:
    """``LinkDownedCounter`` and ``link_downed`` are one counter."""
    plain = name.replace("_", "").lower().removesuffix("counter")
    return plain.removesuffix("err") + "error" if plain.endswith("err") else plain


def _take_table(walk: _Walk, line: Line) -> bool:
    netdev = _NETDEV.search(line.text)
    if netdev:
        port = walk.at(netdev["device"], int(netdev["port"]), line)
        port.netdev = netdev["netdev"]
        port.values.setdefault("netdev_state", netdev["state"])
        port.lines.setdefault("netdev_state", line)
        return True
    rdma = _RDMA.search(line.text)
    if rdma:
        port = walk.at(rdma["device"], int(rdma["port"]), line)
        port.netdev = rdma["netdev"]
        port.values.update(state=rdma["state"], phys=rdma["phys"])
        port.lines.update(state=line, phys=line)
        if rdma["netdev"] and not rdma["netdev"].startswith("ib"):
            port.values.setdefault("layer", "Ethernet")
        return True
    gid = _GID.search(line.text)
    if gid:
        port = walk.at(gid["device"], int(gid["port"]), line)
        port.gids.append(Gid(int(gid["index"]), int(gid["version"]), gid["ip"], line))
        return True
    return False


def _take_pair(walk: _Walk, line: Line) -> bool:
    match = _PAIR.match(line.text)
    key = _KEYS.get(match["key"].strip().lower()) if match else None
    if match is None or key is None or walk.device is None:
        return False
    if key in _DEVICE_KEYS and (walk.port is None or walk.port.device != walk.device[0]):
        walk.shared[key] = match["value"]
    elif walk.port is not None:
        walk.port.values.setdefault(key, match["value"])
        walk.port.lines.setdefault(key, line)
    return True


_TAKERS: tuple[Callable[[_Walk, Line], bool], ...] = (
    _take_device, _take_status, _take_port, _take_counters, _take_table, _take_pair,
)  # fmt: skip


def begins(text: str) -> bool:
    """Can this line start such output?"""
    patterns = (_CA, _HCA, _STATUS, _PERF, _SYSFS, _NETDEV, _RDMA, _GID)
    return any(pattern.search(text) for pattern in patterns)


_ANY_PAIR = re.compile(r"\s*[A-Za-z][\w ]{1,30}:\s+\S+(?: \S+){0,4}\s*$")


def belongs(text: str) -> bool:
    """Can this line be part of such output?"""
    return (
        begins(text)
        or any(pattern.match(text) for pattern in (_PORT, _COUNT, _ANY_PAIR))
        or text.strip().startswith(("DEV", "---", "GID[", "n_gids_found"))
    )
