"""State of RDMA ports: which are down, without a subnet manager, slow, or counted errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from triage.model import Finding, Reading, Source, Value
from triage.readers.capture import Findings, Line, lines_of, mostly, prompt_host
from triage.readers.embedded import with_neighbours
from triage.readers.ib_ports import Port, begins, belongs, ports

KIND = "ibstat"
_ENOUGH = 3
"""Active ports of one kind from which a further one that is down counts as broken."""

_UNSTABLE = ("linkerrorrecovery", "portconfigurationtraining", "phytest", "sleep")
_LINK_ERRORS = {
    "linkdowned": "link downed",
    "linkerrorrecovery": "link error recoveries",
    "symbolerror": "symbol errors",
    "portrcverrors": "receive errors",
    "portxmitdiscards": "transmit discards",
    "locallinkintegrityerrors": "local link integrity errors",
    "excessivebufferoverrunerrors": "buffer overruns",
}
_TRANSPORT_ERRORS = {
    "localacktimeouterror": "local ack timeouts",
    "packetseqerror": "packet sequence errors",
    "outofsequence": "packets out of sequence",
    "rnrnakretryerror": "receiver-not-ready retries",
    "implnaksequenceerror": "implied naks",
    "reqtransportretriesexceeded": "retries exceeded",
    "roceadpretrans": "adaptive retransmissions",
}


class InfinibandReader:
    """Reads captures of ``ibstat`` and its relatives."""

    kind = KIND

    def recognise(self, name: str, head: bytes) -> bool:
        """Is this source a description of RDMA ports?"""
        return mostly(head, begins, belongs)

    def read(self, data: bytes, source: Source, index: int) -> Reading:
        """Say which ports cannot carry traffic, and which are worse than their like."""
        return with_neighbours(_read(lines_of(data), source, index), data, source, index)


def find_ports(text: str | bytes) -> list[Port]:
    """The RDMA ports that ``text`` describes."""
    return ports(lines_of(text))


def findings_in(
    text: str | bytes, source: Source, index: int, line: int = 1, offset: int = 0
) -> tuple[Finding, ...]:
    """Findings for RDMA ports in a piece of a source that begins at ``line`` and ``offset``."""
    lines = lines_of(text, line, offset)
    return _read(lines, source, index).findings if any(begins(x.text) for x in lines) else ()


def _read(lines: Sequence[Line], source: Source, index: int) -> Reading:
    found = Findings(source, index, KIND, host=prompt_host(lines))
    everything = ports(lines)
    if not everything:
        found.note("no RDMA port could be read")
        found.complete = False
        return found.reading()
    _facts(found, everything)
    described = [port for port in everything if port.state is not None]
    for rule_id, group in _states(described):
        _report(found, rule_id, group, len(described))
    for port in _slow(described):
        _report(found, "fabric.ib-rate-degraded", [port], len(described), usual=_usual_rate(port, described))
    for port in everything:
        _errors(found, port)
        _gids(found, port)
    return found.reading()


def _facts(found: Findings, everything: Sequence[Port]) -> None:
    described = [port for port in everything if port.state is not None]
    layers = sorted({p.values["layer"] for p in described if "layer" in p.values})
    facts: dict[str, Value] = {
        "ports": len(everything),
        "active": sum(1 for p in described if p.state == "active"),
        "down": sum(1 for p in described if p.state == "down"),
        "layers": ", ".join(layers) or None,
        "rate": max((p.rate for p in described if p.rate is not None), default=None),
        "devices": ", ".join(dict.fromkeys(p.device for p in everything[:32])),
    }
    found.add("fabric.ib-ports", [p.line for p in everything[:16]], facts)


def _states(described: Sequence[Port]) -> Iterator[tuple[str, list[Port]]]:
    """Ports in a state that carries no traffic, grouped by what that means."""
    active = [p for p in described if p.state == "active"]
    waiting = [p for p in described if p.state in {"initializing", "init"} and not p.ethernet]
    armed = [p for p in described if p.state == "armed"]
    unstable = [p for p in described if p.phys in _UNSTABLE and p.state != "active"]
    down = [p for p in described if p.state == "down" and p not in unstable]
    disabled = [p for p in down if p.phys == "disabled"]
    down = [p for p in down if p not in disabled]
    if waiting or armed:
        yield "fabric.ib-no-subnet-manager", waiting + armed
    if unstable:
        yield "fabric.ib-link-training", unstable
    unused = [p for p in down if active and _spare(p, active)]
    broken = [p for p in down if p not in unused]
    if broken:
        yield ("fabric.ib-port-down" if active else "fabric.ib-all-ports-down"), broken
    if unused:
        yield "fabric.ib-port-unused", unused
    if disabled:
        yield "fabric.ib-port-disabled", disabled


def _spare(port: Port, active: Sequence[Port]) -> bool:
    """Is a port that is down probably one that nobody cabled?

    The second port of an adapter whose first is active, or one with few active ports of its kind.
    """
    if any(other.device == port.device for other in active):
        return True
    like = [p for p in active if p.ethernet == port.ethernet]
    kind = port.values.get("type")
    if kind is not None:
        like = [p for p in like if p.values.get("type") == kind]
    return len(like) < _ENOUGH


def _usual_rate(port: Port, described: Sequence[Port]) -> float | None:
    """The rate of most active ports of the same type and network."""
    like = [
        p.rate for p in described
        if p.state == "active" and p.rate is not None and p.ethernet == port.ethernet
        and p.values.get("type") == port.values.get("type")
    ]  # fmt: skip
    tally = Counter(like)
    return max(tally, key=lambda rate: (tally[rate], rate), default=None)


def _slow(described: Sequence[Port]) -> Iterator[Port]:
    """Active ports below the rate of their like, or that run on one lane of four."""
    for port in described:
        if port.state != "active" or port.rate is None:
            continue
        usual = _usual_rate(port, described)
        if (usual is not None and port.rate < usual) or "(1X" in port.values.get("rate", ""):
            yield port


def _report(
    found: Findings, rule_id: str, group: Sequence[Port], total: int, usual: float | None = None
) -> None:
    lines: dict[int, Line] = {}
    for port in group[:8]:
        for line in (
            port.line,
            *(port.lines[k] for k in ("state", "phys", "rate", "sm_lid") if k in port.lines),
        ):
            lines.setdefault(line.number, line)
    states = sorted({f"{p.values.get('state', '?')}, {p.values.get('phys', '?')}" for p in group})
    fields: dict[str, Value] = {
        "ports": ", ".join(p.label for p in group[:32]),
        "device": group[0].device,
        "count": len(group),
        "total": total,
        "state": "; ".join(states[:4]),
        "rate": group[0].rate,
        "usual": usual,
    }
    found.add(rule_id, [lines[number] for number in sorted(lines)], fields)


def _errors(found: Findings, port: Port) -> None:
    for names, rule_id in (
        (_LINK_ERRORS, "fabric.ib-link-errors"),
        (_TRANSPORT_ERRORS, "fabric.ib-transport-errors"),
    ):
        bad = [(words, *port.counters[name]) for name, words in names.items() if name in port.counters]
        bad = [entry for entry in bad if entry[1] > 0]
        if bad:
            fields: dict[str, Value] = {
                "ports": port.label,
                "device": port.device,
                "detail": ", ".join(f"{count} {words}" for words, count, _ in bad),
                "downed": port.counters.get("linkdowned", (None, None))[0],
            }
            found.add(rule_id, [port.line, *(line for _, _, line in bad)], fields)


def _gids(found: Findings, port: Port) -> None:
    if not port.gids:
        return
    routable = [gid for gid in port.gids if gid.version == 2 and gid.ip]
    fields: dict[str, Value] = {
        "device": port.device,
        "ports": port.label,
        "gids": len(port.gids),
        "roce_v2": routable[0].index if routable else None,
        "ip": routable[0].ip if routable else None,
    }
    found.add("fabric.gid-table", [gid.line for gid in port.gids[:8]], fields)
